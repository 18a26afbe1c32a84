// Package words says to people what the lifecycle engine decided: in the conditions and status.error of a
// Workspace, and in events. Each word of the engine has a text that says what happens now, why, and what
// the user can do, with names and commands filled in. It is pure, and says the same as long as nothing
// happens, so that a Workspace at rest is never written.
package message
