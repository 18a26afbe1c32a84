// Package statusconv converts between the status of a Workspace in the API and that of the lifecycle engine: Read(Write(s)) is s,
// to the second, which is the precision of times in the API. It also converts the spec. It is pure.
package statusconv
