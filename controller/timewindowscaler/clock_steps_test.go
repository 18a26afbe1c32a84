package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// However the clock is set between passes: the count is that of the time that the clock shows, and a decrease waits
// for one grace period from the boundary that the clock has passed, or from the earliest time that it has shown since.
// So none waits longer because of a step.
func TestHoweverTheClockIsSet(t *testing.T) {
	const day = 24 * time.Hour
	off := []time.Duration{0, 0, 0, -time.Second, time.Second, -time.Minute, -time.Hour, time.Hour, -day, day, -3650 * day, 3650 * day}
	officeHoursAt := func(now time.Time) int32 {
		local := now.In(kolkata)
		if weekend := local.Weekday() == time.Saturday || local.Weekday() == time.Sunday; weekend || local.Hour() < 9 || local.Hour() >= 17 {
			return 2
		}
		return 10
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := newScenario(t, 10)
		s.tws.Spec.GracePeriodSeconds = rapid.SampledFrom([]int32{0, 60, 300, 7200}).Draw(rt, "grace")
		grace := time.Duration(s.tws.Spec.GracePeriodSeconds) * time.Second
		right := ist("2025-01-27 16:00:00")
		var before, earliest time.Time // that the clock has shown since a decrease was due; zero while none is
		inForce := int32(-1)
		for range rapid.IntRange(1, 40).Draw(rt, "passes") {
			right = right.Add(time.Duration(rapid.IntRange(0, 1800).Draw(rt, "seconds")) * time.Second)
			now := right.Add(rapid.SampledFrom(off).Draw(rt, "off by"))
			want := officeHoursAt(now)
			switch {
			case want >= inForce:
				earliest = time.Time{}
			case earliest.IsZero():
				earliest = lowerSince(officeHoursAt, inForce, before, now)
			case now.Before(earliest):
				earliest = now
			}
			before = now
			if !earliest.IsZero() && now.Before(earliest.Add(grace)) {
				want = inForce
			} else {
				earliest = time.Time{}
			}
			s.passAt(now)
			if inForce = ptr.Deref(s.tws.Status.EffectiveReplicas, -1); inForce != want || s.obs.target.Base().Spec != want {
				rt.Fatalf("at %s, when it really is %s: %d replicas, want %d", now, right, inForce, want)
			}
		}
	})
}
