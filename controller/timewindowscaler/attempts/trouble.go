package attempts

import "fmt"

// Trouble is why work is not done: the error of its last attempt, or that it waits for its turn.
type Trouble struct {
	Err error
	// Lasts: it failed twice in a row, or for half a minute.
	Lasts bool
	// Failures counts the attempts in a row. Sent: this pass made the last of them.
	Failures int
	Sent     bool
}

// Error implements error.
func (t *Trouble) Error() string { return t.Err.Error() }

// Unwrap implements errors.Unwrap.
func (t *Trouble) Unwrap() error { return t.Err }

// BusyError says that a lane is full.
type BusyError struct{ Lane Lane }

// Error implements error.
func (e *BusyError) Error() string {
	return fmt.Sprintf("requests about objects of kind %s in namespace %s are answered slowly or not at all, and this one waits for its turn; "+
		"usually an admission webhook is slow", e.Lane.Kind.Kind, e.Lane.Namespace)
}
