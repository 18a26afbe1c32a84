package timewindowscaler

import (
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/internal/events"
)

// statusRefusedError says that the API server understood a status and does not store it, because of a policy for example.
// The status cannot say so itself.
type statusRefusedError struct {
	scaler *v1beta1.TimeWindowScaler
	err    error
}

// statusError is the error of a write of the scaler's status.
func statusError(scaler *v1beta1.TimeWindowScaler, err error) error {
	if !failure.IsRefusal(err) {
		return err
	}
	return &statusRefusedError{scaler, err}
}

// Error implements error.
func (e *statusRefusedError) Error() string {
	return "The API server refuses the new status, so the status stays as it is: " + e.err.Error()
}

// Unwrap implements errors.Unwrap.
func (e *statusRefusedError) Unwrap() error { return e.err }

func (e *statusRefusedError) event() events.Event {
	return events.EmitWarning(events.ReasonStatusRefused, e.Error())
}
