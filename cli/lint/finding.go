package lint

import (
	"kyklos.io/kyklos/cli/manifest"
)

// Severity says what a finding does to the verdict.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the API server refuses the object
	Warning Severity = "warning" // it takes the object, and its author should know
)

// Finding is one thing that is to be said about an object.
type Finding struct {
	Severity Severity
	// Rule is the stable name of what was found: it groups findings, and documentation explains it.
	Rule Rule
	// Object is what the finding is about, and Field where, as the API server names it; "" is the object as a whole.
	Object *manifest.Object
	Field  string
	// Message is for people: what is wrong and what would be right, without the field's name.
	Message string
	// At is where the field, or what is nearest to it, stands in the object's file.
	At manifest.Position
}
