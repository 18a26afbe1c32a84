package preview

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// grace fills in what grace periods keep. Before the first transition none runs.
func (t *Timeline) grace() {
	var expiry *time.Time
	kept, held := int32(0), 0 // since transition held the count kept is in force
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
