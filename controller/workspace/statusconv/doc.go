// Package record writes what the lifecycle engine remembers into the status of a Workspace, and reads it
// back: Read(Write(s)) is s, to the second, which is the precision of times in the API. It is pure.
package statusconv
