package timewindowscaler

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// newYork is a window by the clock of New York, which shows 10.5 hours less than that of Kolkata in
// January.
func newYork(spec *v1beta1.TimeWindowScalerSpec) {
	spec.Windows = append(spec.Windows, v1beta1.Window{Name: "new-york", Timezone: "America/New_York",
		Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "24:00", Replicas: intstr.FromInt32(4)})
}

func TestAWindowOfAnotherZone(t *testing.T) {
	s := newScenario(t, 2)
	s.edit(newYork)
	s.pass("2025-01-27 18:00:00")
	s.expectTargetSpec(2)
	if got := localTime(s.tws.Status.NextBoundary); got != "2025-01-27 19:30:00" {
		t.Errorf("next boundary %s", got)
	}
	s.pass("2025-01-27 19:30:00")
	s.expectTargetSpec(4)
	s.expectEvents("ScaledUp")
	s.pass("2025-01-28 10:29:59") // where both are open the last decides
	s.expectTargetSpec(4)
	s.pass("2025-01-28 10:30:00")
	s.expectTargetSpec(10)
}

// B5: a window whose zone is unknown here is ignored, and the others apply.
func TestAnUnknownZoneOfAWindowLeavesItOut(t *testing.T) {
	s := newScenario(t, 2)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) {
		newYork(spec)
		spec.Windows[1].Timezone = "Mars/Olympus_Mons"
	})
	s.pass("2025-01-27 14:00:00")
	s.expectTargetSpec(10)
	s.expectEvents("InvalidSchedule", "ScaledUp")
	s.expectCondition("Degraded", "True/InvalidTimezone")
	s.pass("2025-01-27 14:00:01")
	s.expectCondition("Ready", "True/Reconciled")
	s.pass("2025-01-27 19:30:00")
	s.expectTargetSpec(2)

	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows = append(spec.Windows, spec.Windows[1]) })
	s.pass("2025-01-27 20:00:00")
	s.expectCondition("Degraded", "True/InvalidTimezone")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows = spec.Windows[:1] })
	s.pass("2025-01-27 21:00:00")
	s.expectCondition("Degraded", "False/OperationalNormal")
}

// B17: a window that is left out does not count on an open holiday either. Without another, defaultReplicas apply.
func TestAnOpenHolidayWithoutAReadableWindow(t *testing.T) {
	for windows, want := range map[string]int32{"only an unknown zone": 2, "another one": 1} {
		s := newScenario(t, 7)
		s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
		s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
		s.tws.Spec.Windows[0].Timezone = "Mars/Olympus_Mons"
		if windows == "another one" {
			newYork(&s.tws.Spec)
			s.tws.Spec.Windows[1].Replicas = intstr.FromInt32(1)
		}
		s.pass("2025-01-27 18:00:00")
		s.expectTargetSpec(want)
	}
}

// Percentages become counts before anything else uses them.
func TestPercentagesOfABaseline(t *testing.T) {
	baseline := int32(3)
	s := newScenario(t, 2)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) {
		spec.BaselineReplicas, spec.DefaultReplicas, spec.Windows[0].Replicas = &baseline, intstr.FromString("10%"), intstr.FromString("150%")
	})
	s.pass("2025-01-27 14:00:00")
	s.expectTargetSpec(5)
	s.pass("2025-01-27 18:00:00")
	s.expectTargetSpec(1)
}
