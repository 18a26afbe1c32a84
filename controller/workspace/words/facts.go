// Package words says to people what the lifecycle engine decided.
package words

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Facts are what is told about: one decision, and what it rests on.
type Facts struct {
	// Workspace as it was read, with the status before the decision.
	Workspace *v1alpha1.Workspace
	Decision  lifecycle.Decision
	Seen      lifecycle.Observation
	Limits    Limits
	Detail    Detail
}

// Limits are how many may run of one owner and in all, and how many movers.
type Limits struct{ Owner, All, Movers int }

// Detail is what others said when something failed; the zero value if nothing did.
type Detail struct {
	// Text is in their own words: the API server's or the store's error, the mover's message, or the last
	// lines of what a container wrote.
	Text string
	// Code is the mover's, such as DISK_FULL.
	Code string
	// ExitCode is a container's, nil if there was none. StatusCode is HTTP's, 0 if there was none.
	ExitCode   *int32
	StatusCode int
}

// Status returns the whole status to write.
func (f Facts) Status(now time.Time) v1alpha1.WorkspaceStatus { return v1alpha1.WorkspaceStatus{} }

// Conditions returns the six conditions.
func (f Facts) Conditions(now time.Time) []metav1.Condition { return nil }

// Error returns status.error.
func (f Facts) Error() *v1alpha1.ErrorInfo { return nil }

// Events returns what is to be announced after the status was written.
func (f Facts) Events() []events.Event { return nil }

// OfMover returns the word for how a mover's run ended.
func OfMover(code string) lifecycle.Word { return lifecycle.WordJobFailed }
