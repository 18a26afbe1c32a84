// Package lint defines what kyklos lint reports about manifests: what an API server with Kyklos would refuse or
// warn about, and how the manifests of a set affect each other.
package lint

import (
	"kyklos.io/kyklos/cli/manifest"
)

// Severity is an error or a warning.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the API server refuses the object
	Warning Severity = "warning" // the API server accepts the object, but its author should know
)

// Finding is one error or warning about an object.
type Finding struct {
	Severity Severity
	// Rule is stable: it groups findings, and docs/lint.md describes it.
	Rule Rule
	// Field is its path as the API server writes it; "" is the whole object.
	Object *manifest.Object
	Field  string
	// Message is what is wrong and what would be right, without the field's name.
	Message string
	// At is the position of the field, or of what is nearest to it, in the object's file.
	At manifest.Position
}

// Summary counts what was checked.
type Summary struct {
	// Checked are the checked objects, in the order of their set.
	Checked []*manifest.Object
	// Skipped is the number of objects of kinds that were not checked.
	Skipped int
	// Files is the number of files that were read.
	Files int
}
