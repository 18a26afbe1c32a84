package timeline

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// grace fills in what grace periods keep. At the beginning none runs but one that the state tells of.
func (t *Timeline) grace() {
	kept, expiry := t.running()
	held := 0 // since transition held the count kept is in force
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		if expiry == nil || !tr.Time.Before(*expiry) {
			kept, held, expiry = tr.From, i, nil
		}
		kept, expiry = timecalc.ApplyGracePeriod(kept, tr.To, t.Scaler.Spec.GracePeriodSeconds, expiry, tr.Time)
		if expiry != nil {
			tr.GraceUntil, tr.Kept = expiry.In(tr.Time.Location()), kept
			continue
		}
		for ; held < i; held++ { // cancelled: as many are wanted again
			t.Transitions[held].GraceUntil = tr.Time
		}
	}
}

// running is the grace period that runs at the beginning, by the state of the cluster: what it keeps, and until when, nil if none
// does, as far as is known.
func (t *Timeline) running() (kept int32, expiry *time.Time) {
	state := t.Scaler.State
	if state == nil || state.GracePeriodExpiry == nil || state.EffectiveReplicas == nil {
		return 0, nil
	}
	end := state.GracePeriodExpiry.Time
	if !t.From.Before(end) || t.From.Before(end.Add(-t.Scaler.Grace()).Truncate(time.Second)) || t.Segments[0].Replicas >= *state.EffectiveReplicas {
		return 0, nil // it is over, has not begun, or was cancelled
	}
	return *state.EffectiveReplicas, &end
}
