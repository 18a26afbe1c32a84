package timewindowscaler

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B6: a ConfigMap that is deleted, perhaps to be created again, changes nothing for five minutes; Degraded says so
// at once. An edit applies at once.
func TestADeletedHolidayConfigMap(t *testing.T) {
	s := newScenario(t, 10)
	s.follows(v1beta1.HolidayClosed, "2025-01-27")
	s.obs.holidays.seen = true
	s.pass(inTheHours)
	s.expectEffective(2, "")
	deleted := ist("2025-01-27 14:00:10")
	s.obs.holidays.missing, s.obs.holidays.gone = "company-holidays", deleted
	s.passAt(deleted)
	s.expectEffective(2, "")
	s.expectCondition("Degraded", "True/HolidaySourceMissing")
	if want := deleted.Add(holidayGrace); !s.last.plan.wakeUp.Equal(want) {
		t.Errorf("the next pass at %s, want %s", s.last.plan.wakeUp, want)
	}
	s.passAt(deleted.Add(holidayGrace - time.Second))
	s.expectEffective(2, "")
	s.passAt(deleted.Add(holidayGrace))
	s.expectEffective(10, "")
	s.expectCondition("Degraded", "True/HolidaySourceMissing")

	s.obs.holidays = holidays{dates: map[string]bool{"2025-01-27": true}, seen: true}
	s.pass("2025-01-27 14:10:00")
	s.expectEffective(2, "")
	s.expectCondition("Degraded", normal)
	s.obs.holidays.dates = nil // there, and empty
	s.pass("2025-01-27 14:11:00")
	s.expectEffective(10, "")
	s.expectCondition("Degraded", normal)
}

// After a restart the dates are not known, but today's is in the status. An edit of the spec ends that, and a clock
// that was set back does not prolong it.
func TestADeletedHolidayConfigMapAfterARestart(t *testing.T) {
	restart := ist("2025-01-27 14:00:10")
	for name, tc := range map[string]struct {
		change func(*scenario)
		at     time.Time
		want   int32
	}{
		"at once":               {func(*scenario) {}, restart, 2},
		"after five minutes":    {func(*scenario) {}, restart.Add(holidayGrace), 10},
		"the next day":          {func(s *scenario) { s.obs.holidays.gone = ist("2025-01-27 23:59:00") }, ist("2025-01-28 09:00:00"), 10},
		"the clock is set back": {func(*scenario) {}, restart.Add(-time.Minute), 10},
		"an edit":               {func(s *scenario) { s.edit(func(*v1beta1.TimeWindowScalerSpec) {}) }, restart, 10},
		"no holiday today":      {func(s *scenario) { s.tws.Status.Holiday = "" }, restart, 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			s.follows(v1beta1.HolidayClosed, "2025-01-27")
			s.pass(inTheHours)
			s.obs.holidays = holidays{missing: "company-holidays", gone: restart}
			tc.change(s)
			s.passAt(tc.at)
			s.expectEffective(tc.want, "")
		})
	}
}
