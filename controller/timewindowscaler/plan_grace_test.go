package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// newGrace has office hours and a grace period of 300 s, and is scaled up at 16:59.
func newGrace(t *testing.T) *scenario {
	s := newScenario(t, 10)
	s.tws.Spec.GracePeriodSeconds = 300
	s.pass("2025-01-27 16:59:00")
	s.expectEffective(10, "")
	return s
}

// R9.
func TestGraceHoldsADecreaseBack(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.expectEvents("GracePeriodStarted")
	s.expectEffective(10, "2025-01-27 17:05:00")
	s.pass("2025-01-27 17:04:59")
	s.expectEvents()
	s.expectEffective(10, "2025-01-27 17:05:00")
	s.expectTargetSpec(10)
	s.pass("2025-01-27 17:05:00")
	s.expectEvents("ScaledDown")
	s.expectEffective(2, "")
	s.expectTargetSpec(2)
}

// B2: the first pass knows no grace.
func TestTheFirstPassKnowsNoGrace(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Spec.GracePeriodSeconds = 300
	s.pass("2025-01-27 18:00:00")
	s.expectEffective(2, "")
	s.expectEvents("ScaledDown")
}

// Effective replicas of zero are a decision like any other, not the lack of one.
func TestGraceDownToZeroAndFromZero(t *testing.T) {
	s := newGrace(t)
	s.tws.Spec.DefaultReplicas = intstr.FromInt32(0)
	s.pass("2025-01-27 17:00:00")
	s.expectEffective(10, "2025-01-27 17:05:00")
	s.pass("2025-01-27 17:05:00")
	s.expectEffective(0, "")
	s.pass("2025-01-28 09:00:00")
	s.expectEffective(10, "")
	s.expectEvents("ScaledUp")
}

// B2: a further decrease during grace keeps the expiry.
func TestAFurtherDecreaseKeepsTheExpiry(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(1) })
	s.pass("2025-01-27 17:03:00")
	s.expectEvents()
	s.expectEffective(10, "2025-01-27 17:05:00")
	s.pass("2025-01-27 17:05:00")
	s.expectEffective(1, "")
}

// R9: a rise cancels at once; one that stays below what is kept does not.
func TestARiseCancelsTheGracePeriod(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas, keeps int32
		until           string
		events          []string
	}{
		"above":     {12, 12, "", []string{"GracePeriodCancelled", "ScaledUp"}},
		"equal":     {10, 10, "", []string{"GracePeriodCancelled"}},
		"in part":   {5, 10, "2025-01-27 17:05:00", nil},
		"no change": {2, 10, "2025-01-27 17:05:00", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newGrace(t)
			s.pass("2025-01-27 17:00:00")
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(tc.replicas) })
			s.pass("2025-01-27 17:01:00")
			s.expectEffective(tc.keeps, tc.until)
			s.expectEvents(tc.events...)
		})
	}
}

// B2: grace applies to a spec edit too.
func TestASpecEditThatLowersWaits(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(4) })
	s.pass("2025-01-27 12:00:00")
	s.expectEvents("GracePeriodStarted")
	s.expectEffective(10, "2025-01-27 12:05:00")
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
			s.pass("2025-01-27 17:00:00")
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = tc.seconds })
			s.pass("2025-01-27 17:01:00")
			s.expectEffective(tc.keeps, tc.until)
			s.pass("2025-01-27 17:01:30")
			s.expectEffective(tc.keeps, tc.until)
		})
	}
}

// B2: grace applies to a holiday that closes.
func TestAHolidayThatClosesWaits(t *testing.T) {
	s := newGrace(t)
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
	s.pass("2025-01-27 10:00:00")
	s.expectEffective(10, "2025-01-27 10:05:00")
	s.expectCondition("Ready", "True/Reconciled")
	s.pass("2025-01-27 10:05:00")
	s.expectEffective(2, "")
	s.expectEvents("ScaledDown")
	s.pass("2025-01-27 10:05:01")
	s.expectCondition("Ready", "True/Reconciled")
}

// B2: while paused, grace is computed and shown, and nothing is written.
func TestGraceWhilePaused(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.pass("2025-01-27 17:00:00")
	s.expectEvents("GracePeriodStarted")
	s.expectEffective(10, "2025-01-27 17:05:00")
	s.pass("2025-01-27 17:05:00")
	s.expectEffective(2, "")
	s.expectTargetSpec(10)
	s.expectEvents("ScalingSkipped")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.pass("2025-01-27 17:06:00")
	s.expectTargetSpec(2)
	s.expectEvents("ScaledDown")
}

// A target that others raise during grace is corrected to the count that is kept (B2, B3); one that they lower is not raised, because a
// grace period never scales up (B15).
func TestDriftDuringGrace(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.obs.target = deployment(15, 15)
	s.pass("2025-01-27 17:01:00")
	s.expectTargetSpec(10)
	s.expectEvents("ScaledDown")
	s.obs.target = deployment(3, 3)
	s.pass("2025-01-27 17:02:00")
	s.expectTargetSpec(3)
	s.expectEvents()
	s.expectEffective(3, "2025-01-27 17:05:00")
	s.pass("2025-01-27 17:05:00")
	s.expectTargetSpec(2)
	s.expectEvents("ScaledDown")
}

// A target that is already below is raised when grace ends; no grace period delayed that.
func TestARiseIsNotSaidToHaveWaited(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.obs.target = deployment(1, 1)
	s.pass("2025-01-27 17:05:00")
	s.expectEvents("ScaledUp")
}

// B1: after an outage past the expiry, one write to the right value.
func TestAnExpiryThatWasSlept(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.pass("2025-01-27 23:00:00")
	s.expectEffective(2, "")
	s.expectTargetSpec(2)

	s = newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.pass("2025-01-28 10:00:00")
	s.expectEffective(10, "")
	s.expectTargetSpec(10)
	s.expectEvents("GracePeriodCancelled")
}

// A clock that is set back does not make the grace period longer than it is.
func TestGraceWithAClockThatIsSetBack(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(4) })
	s.pass("2025-01-27 14:00:00")
	s.expectEffective(10, "2025-01-27 14:05:00")
	s.pass("2025-01-27 12:00:00")
	s.expectEffective(10, "2025-01-27 12:05:00")
	s.expectEvents()
	s.pass("2025-01-27 12:05:00")
	s.expectEffective(4, "")
}

// The API stores whole seconds: an expiry is rounded up, stored and then kept as it is.
func TestExpiriesAreWholeSeconds(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(4) })
	edited := ist("2025-01-27 12:00:00").Add(time.Millisecond)
	s.passAt(edited)
	s.expectEffective(10, "2025-01-27 12:05:01")
	s.passAt(edited.Add(299_500 * time.Millisecond))
	s.expectEffective(10, "2025-01-27 12:05:01")
	s.pass("2025-01-27 12:05:01")
	s.expectEffective(4, "")
}
