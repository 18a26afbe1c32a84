package contention

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// takeoverGrace is how long the owner of a target must be gone before the next scaler takes over. All scalers of a
// target may be about to be deleted, one after the other, and tools that replace an object delete it first.
const takeoverGrace = 10 * time.Second

// Claim is what a scaler remembers, from pass to pass, of the one that owns its target (B8).
type Claim struct {
	// Owner is the name of the scaler that owns the target, or owned it until shortly before; "" if the target is ours.
	Owner string
	// target is what it owns.
	target v1beta1.TargetRef
	// goneSince is when it was first seen gone; zero while it owns the target.
	goneSince time.Time
}

// Follow decides whether the target is ours. owner is the name of the scaler that owns it now, "" if no other does.
func (c Claim) Follow(target v1beta1.TargetRef, owner string, now time.Time) Claim {
	switch {
	case owner != "":
		return Claim{Owner: owner, target: target}
	case c.Owner == "" || !targetkind.SameTarget(c.target, target):
		return Claim{}
	case c.goneSince.IsZero():
		c.goneSince = now
	}
	c.goneSince = earlier(c.goneSince, now) // the clock may have been set back
	if !now.Before(c.TakesOver()) {
		return Claim{}
	}
	return c
}

// TakesOver is when the target becomes ours; zero if it is ours, or its owner is still there.
func (c Claim) TakesOver() time.Time {
	if c.goneSince.IsZero() {
		return time.Time{}
	}
	return c.goneSince.Add(takeoverGrace)
}
