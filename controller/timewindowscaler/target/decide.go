package target

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// Input is what a kind decides by.
type Input struct {
	Scaler *v1beta1.TimeWindowScaler
	// Target is nil if it does not exist or another scaler owns it.
	Target  Target
	Desired Desired
	// Settled: the target was as desired, or on its way there, for this very spec.
	Settled bool
	// RaiseOnly: a metric has no value yet, and until then nothing is taken away.
	RaiseOnly bool
	// InGrace: a grace period delays the next decision.
	InGrace bool
	// Since returns the start of the window occurrence that decides, or of the time between windows; zero
	// if that is longer ago than a month.
	Since func() time.Time
	Now   time.Time
	// UsedUntil is how long the last heartbeat of a Workspace counts; zero without one.
	UsedUntil time.Time
}

// Decision is what a kind decides about a target.
type Decision struct {
	// Write: the target has to be written. Drift: the write corrects what others changed.
	Write, Drift bool
	// Skipped: only spec.pause prevents a write.
	Skipped bool
	// Held: the desired count is enforced all the time, so others that change it are in a fight.
	Held bool
	// Left: another user or controller decided otherwise, which applies until the next window boundary.
	Left bool
	// WaitsForIdle: a Workspace is stopped as soon as nobody uses it. Stops: the write stops one, unless there is a heartbeat.
	WaitsForIdle, Stops bool
	// Edge is the boundary that decides, empty if it is not known or does not matter.
	Edge string
	// Archived is why a Workspace that is left stays archived although a window asks for it; "" if it does not. ArchivedNow:
	// this was decided now.
	Archived    string
	ArchivedNow bool
	// Applied is the next status.applied, once the decision is carried out.
	Applied *v1beta1.Applied
}

// heldToCount is embedded by kinds with a replica count, to which the target is held all the time unless its drift policy
// says otherwise.
type heldToCount struct{}

func (heldToCount) Limit(replicas int32) int32 { return replicas }

func (heldToCount) Warning(*v1beta1.TimeWindowScalerSpec) string { return "" }

func (heldToCount) Decide(in Input) Decision {
	if schedule.DriftPolicy(&in.Scaler.Spec) == v1beta1.DriftUntilBoundary {
		return decideOnce(in)
	}
	if in.Target == nil || in.Target.AsksFor(in.Desired) {
		return Decision{Held: true}
	}
	pause := in.Scaler.Spec.Pause
	write := !pause && (!in.RaiseOnly || in.Target.Base().Spec < in.Desired.Replicas)
	return Decision{Write: write, Drift: write && in.Settled, Skipped: pause, Held: true}
}
