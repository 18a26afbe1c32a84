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
	s := newStory(t, 2)
	s.edits(newYork)
	s.passes("2025-01-27 18:00:00")
	s.stands(2)
	if got := localTime(s.tws.Status.NextBoundary); got != "2025-01-27 19:30:00" {
		t.Errorf("next boundary %s", got)
	}
	s.passes("2025-01-27 19:30:00")
	s.stands(4)
	s.hears("Scaled up from 2 to 4 replicas (window: new-york)")
	s.passes("2025-01-28 10:29:59") // where both are open the last decides
	s.stands(4)
	s.passes("2025-01-28 10:30:00")
	s.stands(10)
}

// B5: a window whose zone is unknown here is left out, and the others go on.
func TestAnUnknownZoneOfAWindowLeavesItOut(t *testing.T) {
	const detail = `spec.windows[1].timezone: Invalid value: "Mars/Olympus_Mons": unknown time zone "Mars/Olympus_Mons": use an IANA name such as Europe/Berlin or UTC; this window is left out`
	s := newStory(t, 2)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) {
		newYork(spec)
		spec.Windows[1].Timezone = "Mars/Olympus_Mons"
	})
	s.passes("2025-01-27 14:00:00")
	s.stands(10)
	s.hears(detail, "Scaled up from 2 to 10 replicas (window: BusinessHours)")
	s.shows("Degraded", "True/InvalidTimezone: "+detail)
	s.passes("2025-01-27 14:00:01")
	s.shows("Ready", "True/Reconciled: Target has the desired 10 replicas (window: BusinessHours)")
	s.passes("2025-01-27 19:30:00")
	s.stands(2)

	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows = append(spec.Windows, spec.Windows[1]) })
	s.passes("2025-01-27 20:00:00")
	s.shows("Degraded", "True/InvalidTimezone: "+detail+", and so are others: 2 in all")
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows = spec.Windows[:1] })
	s.passes("2025-01-27 21:00:00")
	s.shows("Degraded", "False/OperationalNormal: Everything in the spec is at work")
}

// Percentages are counts before anything else looks at them.
func TestPercentagesOfABaseline(t *testing.T) {
	baseline := int32(3)
	s := newStory(t, 2)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) {
		spec.BaselineReplicas, spec.DefaultReplicas, spec.Windows[0].Replicas = &baseline, intstr.FromString("10%"), intstr.FromString("150%")
	})
	s.passes("2025-01-27 14:00:00")
	s.stands(5)
	s.passes("2025-01-27 18:00:00")
	s.stands(1)
}
