package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
)

// newGrace is office hours with a grace period of 300 s, at work at 16:59.
func newGrace(t *testing.T) *story {
	s := newStory(t, 10)
	s.tws.Spec.GracePeriodSeconds = 300
	s.passes("2025-01-27 16:59:00")
	s.keeps(10, "")
	return s
}

// R9.
func TestGraceHoldsADecreaseBack(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.hears("Grace period started: 300s before scaling to 2 replicas")
	s.keeps(10, "2025-01-27 17:05:00")
	s.passes("2025-01-27 17:04:59")
	s.hears()
	s.keeps(10, "2025-01-27 17:05:00")
	s.stands(10)
	s.passes("2025-01-27 17:05:00")
	s.hears("Scaled down from 10 to 2 replicas after 300s grace period")
	s.keeps(2, "")
	s.stands(2)
}

// B2: the first pass knows no grace.
func TestTheFirstPassKnowsNoGrace(t *testing.T) {
	s := newStory(t, 10)
	s.tws.Spec.GracePeriodSeconds = 300
	s.passes("2025-01-27 18:00:00")
	s.keeps(2, "")
	s.hears("Scaled down from 10 to 2 replicas (window: OffHours)")
}

// Effective replicas of zero are a decision like any other, not the lack of one.
func TestGraceDownToZeroAndFromZero(t *testing.T) {
	s := newGrace(t)
	s.tws.Spec.DefaultReplicas = intstr.FromInt32(0)
	s.passes("2025-01-27 17:00:00")
	s.keeps(10, "2025-01-27 17:05:00")
	s.passes("2025-01-27 17:05:00")
	s.keeps(0, "")
	s.passes("2025-01-28 09:00:00")
	s.keeps(10, "")
	s.hears("Scaled up from 0 to 10 replicas (window: BusinessHours)")
}

// B2: a further decrease during grace keeps the expiry.
func TestAFurtherDecreaseKeepsTheExpiry(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(1) })
	s.passes("2025-01-27 17:03:00")
	s.hears()
	s.keeps(10, "2025-01-27 17:05:00")
	s.passes("2025-01-27 17:05:00")
	s.keeps(1, "")
}

// R9: a rise cancels at once; one that stays below what is kept does not.
func TestARiseCancelsTheGracePeriod(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas, keeps int32
		until           string
		note            []string
	}{
		"above":     {12, 12, "", []string{"Grace period cancelled: 12 replicas are desired again", "Scaled up from 10 to 12 replicas (window: OffHours)"}},
		"equal":     {10, 10, "", []string{"Grace period cancelled: 10 replicas are desired again"}},
		"in part":   {5, 10, "2025-01-27 17:05:00", nil},
		"no change": {2, 10, "2025-01-27 17:05:00", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newGrace(t)
			s.passes("2025-01-27 17:00:00")
			s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(tc.replicas) })
			s.passes("2025-01-27 17:01:00")
			s.keeps(tc.keeps, tc.until)
			s.hears(tc.note...)
		})
	}
}

// B2: grace applies to a spec edit too.
func TestASpecEditThatLowersWaits(t *testing.T) {
	s := newGrace(t)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(4) })
	s.passes("2025-01-27 12:00:00")
	s.hears("Grace period started: 300s before scaling to 4 replicas")
	s.keeps(10, "2025-01-27 12:05:00")
}

// An edit of the grace period itself never prolongs one that runs.
func TestEditingTheGracePeriodItself(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds, keeps int32
		until          string
	}{
		"longer":          {3600, 10, "2025-01-27 17:05:00"},
		"shorter":         {60, 10, "2025-01-27 17:02:00"},
		"as short as due": {240, 10, "2025-01-27 17:05:00"},
		"none":            {0, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newGrace(t)
			s.passes("2025-01-27 17:00:00")
			s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = tc.seconds })
			s.passes("2025-01-27 17:01:00")
			s.keeps(tc.keeps, tc.until)
			s.passes("2025-01-27 17:01:30")
			s.keeps(tc.keeps, tc.until)
		})
	}
}

// B2: grace applies to a holiday that closes.
func TestAHolidayThatClosesWaits(t *testing.T) {
	s := newGrace(t)
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
	s.passes("2025-01-27 10:00:00")
	s.keeps(10, "2025-01-27 10:05:00")
	s.shows("Ready", "True/Reconciled: Target has the desired 10 replicas (grace period)")
	s.passes("2025-01-27 10:05:00")
	s.keeps(2, "")
	s.hears("Scaled down from 10 to 2 replicas after 300s grace period")
	s.passes("2025-01-27 10:05:01")
	s.shows("Ready", "True/Reconciled: Target has the desired 2 replicas (holiday 2025-01-27: treat-as-closed)")
}

// B2: while paused, grace is computed and shown, and nothing is written.
func TestGraceWhilePaused(t *testing.T) {
	s := newGrace(t)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.passes("2025-01-27 17:00:00")
	s.hears("Grace period started: 300s before scaling to 2 replicas")
	s.keeps(10, "2025-01-27 17:05:00")
	s.passes("2025-01-27 17:05:00")
	s.keeps(2, "")
	s.stands(10)
	s.hears("Scaling skipped due to pause: current=10, desired=2")
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.passes("2025-01-27 17:06:00")
	s.stands(2)
	s.hears("Scaled down from 10 to 2 replicas (window: OffHours)")
}

// Drift during grace is set right to the value kept (B2, B3).
func TestDriftDuringGrace(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.obs.target = deployment(3, 3)
	s.passes("2025-01-27 17:01:00")
	s.stands(10)
	s.hears("Corrected manual drift: scaled up from 3 to 10 replicas (window: OffHours)")
	s.keeps(10, "2025-01-27 17:05:00")
}

// A target that already stands below is raised when grace ends; no grace period held that back.
func TestARiseIsNotSaidToHaveWaited(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.obs.target = deployment(1, 1)
	s.passes("2025-01-27 17:05:00")
	s.hears("Scaled up from 1 to 2 replicas (window: OffHours)")
}

// B1: after an outage past the expiry, one write to the right value.
func TestAnExpiryThatWasSlept(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.passes("2025-01-27 23:00:00")
	s.keeps(2, "")
	s.stands(2)

	s = newGrace(t)
	s.passes("2025-01-27 17:00:00")
	s.passes("2025-01-28 10:00:00")
	s.keeps(10, "")
	s.stands(10)
	s.hears("Grace period cancelled: 10 replicas are desired again")
}

// A clock that is set back does not make the grace period longer than it is.
func TestGraceWithAClockThatIsSetBack(t *testing.T) {
	s := newGrace(t)
	s.passes("2025-01-27 20:00:00")
	s.keeps(10, "2025-01-27 20:05:00")
	s.passes("2025-01-27 18:00:00")
	s.keeps(10, "2025-01-27 18:05:00")
	s.hears()
	s.passes("2025-01-27 18:05:00")
	s.keeps(2, "")
}

// The API stores whole seconds: an expiry is rounded up, stored and then kept as it is.
func TestExpiriesAreWholeSeconds(t *testing.T) {
	s := newGrace(t)
	started := ist("2025-01-27 17:00:00").Add(time.Millisecond)
	s.passesAt(started)
	s.keeps(10, "2025-01-27 17:05:01")
	s.passesAt(started.Add(299_500 * time.Millisecond))
	s.keeps(10, "2025-01-27 17:05:01")
	s.passes("2025-01-27 17:05:01")
	s.keeps(2, "")
}

// Whatever happens when, a decrease waits at least its grace period and less than a second more,
// and the expiry never moves while the grace period runs.
func TestGraceLastsAsLongAsAsked(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newGrace(t)
		seconds := rapid.Int32Range(1, 7200).Draw(rt, "grace")
		s.tws.Spec.GracePeriodSeconds = seconds
		start := ist("2025-01-27 17:00:00").Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "start")))
		s.passesAt(start)
		expiry := s.tws.Status.GracePeriodExpiry.Time
		length := time.Duration(seconds) * time.Second
		if wait := expiry.Sub(start); wait < length || wait >= length+time.Second {
			rt.Fatalf("%s of grace, want %s", wait, length)
		}
		now := start
		for now.Before(expiry) {
			if got := s.tws.Status; !got.GracePeriodExpiry.Time.Equal(expiry) || ptr.Deref(got.EffectiveReplicas, -1) != 10 {
				rt.Fatalf("at %s: %v until %v", now, got.EffectiveReplicas, got.GracePeriodExpiry)
			}
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(length)).Draw(rt, "step")))
			s.passesAt(now)
		}
		if got := s.tws.Status; got.GracePeriodExpiry != nil || ptr.Deref(got.EffectiveReplicas, -1) != 2 {
			rt.Fatalf("after the expiry: %v until %v", got.EffectiveReplicas, got.GracePeriodExpiry)
		}
	})
}
