// Package message writes the decisions of the lifecycle engine for people: conditions, status.error and events of a Workspace.
// Each code of the engine has a text that says what happens, why, and what the user can do, with names and commands filled in.
// The package is pure. The texts stay the same as long as nothing happens, so that a Workspace at rest is never written.
package message
