package timewindowscaler

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// B5: an invalid spec leaves the target alone, and the reason is reported.
func TestAnInvalidSpecLeavesTheTargetAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1beta1.TimeWindowScalerSpec)
		parts []string
	}{
		"start equals end": {func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].End = "09:00" },
			[]string{"spec.windows[0].end", "start must not equal end"}},
		"no time": {func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Start = "9 am" },
			[]string{"spec.windows[0].start", "9 am", "HH:MM"}},
		"one bad window of two": {func(spec *v1beta1.TimeWindowScalerSpec) {
			spec.Windows = append(spec.Windows, v1beta1.Window{Days: []v1beta1.Weekday{"Funday"}, Start: "10:00", End: "11:00"})
		}, []string{"spec.windows[1].days[0]", "Funday"}},
		"windows and zone": {func(spec *v1beta1.TimeWindowScalerSpec) {
			spec.Windows[0].End, spec.Timezone = "", "Mars/Olympus_Mons"
		},
			[]string{"spec.windows[0].end", "spec.timezone", "Mars/Olympus_Mons"}},
		"another namespace": {func(spec *v1beta1.TimeWindowScalerSpec) { spec.TargetRef.Namespace = "kube-system" },
			[]string{"spec.targetRef.namespace", "kube-system", `must be "production"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			s.pass("2025-01-27 14:00:00")
			before := s.tws.Status
			s.edit(tc.edit)
			s.obs.target = deployment(7, 7)
			p := s.pass("2025-01-27 18:00:00").plan
			if p.Write {
				t.Error("the target is written")
			}
			s.expectCondition("Ready", "False/InvalidConfiguration")
			s.expectCondition("Reconciling", "False/Stable")
			s.expectCondition("Degraded", "True/InvalidConfiguration")
			for _, part := range tc.parts {
				if !strings.Contains(p.invalid, part) {
					t.Errorf("%q does not say %q", p.invalid, part)
				}
			}
			s.expectEvents("InvalidSchedule")
			// The last decision and the target stay; the status is about the new spec.
			s.expectEffective(*before.EffectiveReplicas, "")
			if got := s.tws.Status; got.CurrentWindow != "BusinessHours" || got.NextBoundary != nil || got.ObservedGeneration != 2 {
				t.Errorf("window %q, next boundary %v, generation %d", got.CurrentWindow, got.NextBoundary, got.ObservedGeneration)
			}
		})
	}
}

func TestTheOwnNamespaceMayBeNamed(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Spec.TargetRef.Namespace = "production"
	if p := s.pass("2025-01-27 14:00:00").plan; p.invalid != "" || !p.Write {
		t.Errorf("invalid %q, write %v", p.invalid, p.Write)
	}
}

// An invalid scaler without a target gets a single warning.
func TestInvalidWithoutATarget(t *testing.T) {
	s := newScenario(t, 0)
	s.obs.target = nil
	s.obs.obstacle = &targetkind.NotScalableError{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}}
	s.pass("2025-01-27 14:00:00")
	s.expectEvents("InvalidSchedule")
	if s.tws.Status.EffectiveReplicas != nil || s.tws.Status.TargetObservedReplicas != nil {
		t.Errorf("effective %v, observed %v", s.tws.Status.EffectiveReplicas, s.tws.Status.TargetObservedReplicas)
	}
}

// B5: an unknown zone falls back to defaultReplicas.
func TestAnUnknownZoneUsesTheDefault(t *testing.T) {
	s := newScenario(t, 10)
	s.pass("2025-01-27 14:00:00")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Timezone = "Mars/Olympus_Mons" })
	p := s.pass("2025-01-27 15:00:00").plan
	s.expectTargetSpec(2)
	s.expectEffective(2, "")
	s.expectEvents("InvalidSchedule", "ScaledDown")
	s.expectCondition("Degraded", "True/InvalidTimezone")
	if !p.nextBoundary.IsZero() || !p.wakeUp.IsZero() || s.tws.Status.NextBoundary != nil {
		t.Errorf("boundaries of no zone: %s, %s, %v", p.nextBoundary, p.wakeUp, s.tws.Status.NextBoundary)
	}
	s.pass("2025-01-27 15:05:00")
	s.expectCondition("Ready", "True/Reconciled")

	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Timezone = "Asia/Kolkata" })
	s.pass("2025-01-27 15:06:00")
	s.expectTargetSpec(10)
	s.expectCondition("Degraded", "False/OperationalNormal")
}

// The fallback is a decrease as any other: grace holds it back, and its end is the wake-up.
func TestTheFallbackKeepsToGrace(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Timezone = "Mars/Olympus_Mons" })
	p := s.pass("2025-01-27 15:00:00").plan
	s.expectEffective(10, "2025-01-27 15:05:00")
	if !p.wakeUp.Equal(ist("2025-01-27 15:05:00")) {
		t.Errorf("wake-up %s", p.wakeUp)
	}
}

// Without a known zone there are no local days, and so no holidays.
func TestAnUnknownZoneKnowsNoHolidays(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Spec.Timezone = "Mars/Olympus_Mons"
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
	s.pass("2025-01-27 15:00:00")
	if status := s.tws.Status; ptr.Deref(status.EffectiveReplicas, -1) != 2 || status.Holiday != "" || status.CurrentWindow != "OffHours" {
		t.Errorf("effective %v, holiday %q, window %q", status.EffectiveReplicas, status.Holiday, status.CurrentWindow)
	}
}
