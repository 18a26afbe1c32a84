package timewindowscaler

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// A change that starts another occurrence of a window is due at once, and counts from zero.
func TestWhatEndsAnOccurrence(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*scenario)
		now    string
		want   int32
	}{
		"a boundary":  {func(*scenario) {}, "2025-01-27 17:00:00", 2},
		"a spec edit": {func(s *scenario) { s.edit(func(*v1beta1.TimeWindowScalerSpec) {}) }, "2025-01-27 14:00:04", 10},
		"an end of pause": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
			s.pass("2025-01-27 14:00:04")
			s.expectTargetSpec(15)
			s.expectCondition("Degraded", normal)
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
		}, "2025-01-27 14:00:05", 10},
		"a holiday that closes": {func(s *scenario) {
			s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
			s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed}
		}, "2025-01-27 14:00:04", 2},
		"a new target of the name": {func(s *scenario) { s.obs.target = deployment(15, 15); s.obs.target.Base().UID = "d-2" }, "2025-01-27 14:00:04", 10},
		"a target that came back": {func(s *scenario) {
			s.obs.target = nil
			s.pass("2025-01-27 14:00:04")
			s.obs.target = deployment(1, 1)
		}, "2025-01-27 14:00:05", 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := fighting(t)
			tc.change(s)
			s.pass(tc.now)
			s.expectTargetSpec(tc.want)
			s.expectCondition("Degraded", normal)
			if s.last.plan.fight.On() {
				t.Error("the fight continues")
			}
		})
	}
}

// While a grace period keeps the old count, Kyklos fights a rival over that count; the end of the grace period is due on time.
func TestAFightInAGracePeriod(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Spec.GracePeriodSeconds = 60
	s.pass("2025-01-27 16:59:00")
	s.pass("2025-01-27 17:00:00")
	for _, at := range []string{"2025-01-27 17:00:01", "2025-01-27 17:00:02", "2025-01-27 17:00:59"} {
		s.rewrite(at)
	}
	s.rewrite("2025-01-27 17:00:59")
	s.expectTargetSpec(15)
	s.expectEffective(10, "2025-01-27 17:01:00")
	s.pass("2025-01-27 17:01:00")
	s.expectTargetSpec(2)
	s.expectCondition("Degraded", normal)
}

// Unrelated rewrites are not a fight, and neither are writes that change nothing.
func TestWhatIsNotAFight(t *testing.T) {
	t.Run("days apart", func(t *testing.T) {
		s := newScenario(t, 10)
		s.tws.Spec.Windows[0].Days = []v1beta1.Weekday{"Sun"} // nothing but OffHours for days
		s.obs.target = deployment(2, 2)
		for now := ist("2025-01-20 10:00:00"); now.Before(ist("2025-01-25 10:00:00")); now = now.Add(25 * time.Hour) {
			s.passAt(now)
			s.obs.target = deployment(15, 15)
			s.passAt(now.Add(time.Second))
			s.expectTargetSpec(2)
			s.expectCondition("Degraded", normal)
		}
	})
	t.Run("the same value", func(t *testing.T) {
		s := newScenario(t, 10)
		for range 5 {
			s.obs.target = deployment(10, 10)
			s.pass(inTheHours)
		}
		s.expectCondition("Degraded", normal)
	})
	t.Run("many passes over one rewrite", func(t *testing.T) {
		s := newScenario(t, 10)
		s.pass(inTheHours)
		s.refusal = errRefused
		for range 5 {
			s.rewrite("2025-01-27 14:00:01")
		}
		s.refusal = nil
		s.pass("2025-01-27 14:00:02")
		s.expectTargetSpec(10)
		s.expectCondition("Degraded", normal)
	})
}
