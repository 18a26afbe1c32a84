package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	notReconciling = "False/Stable"
	inOrder        = "True/Reconciled"
	normal         = "False/OperationalNormal"
	inTheHours     = "2025-01-27 14:00:00"
)

// R6, B4.
func TestConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		setUp                        func(*scenario)
		ready, reconciling, degraded string
	}{
		"in order": {func(*scenario) {}, inOrder, notReconciling, normal},
		"pods still to come": {func(s *scenario) { s.obs.target = deployment(10, 2) },
			"False/TargetMismatch", "True/ConfigurationChange", normal},
		"pods happen to be as many, but the spec is not": {func(s *scenario) { s.refusal = errRefused; s.obs.target = deployment(3, 10) },
			"False/TargetMismatch", notReconciling, "True/ScaleFailed"},
		"no target": {func(s *scenario) { s.obs.target = nil },
			"False/TargetNotFound", notReconciling, normal},
		"owned by another (B8)": {func(s *scenario) { s.obs.owner = "older" },
			"False/TargetConflict", notReconciling, normal},
		"owned by another and missing": {func(s *scenario) { s.obs.owner, s.obs.target = "older", nil },
			"False/TargetConflict", notReconciling, normal},
		"paused and apart": {func(s *scenario) { s.tws.Spec.Pause, s.obs.target = true, deployment(5, 5) },
			"False/TargetMismatch", "False/Stable", normal},
		"paused and aligned": {func(s *scenario) { s.tws.Spec.Pause = true },
			inOrder, "False/Stable", normal},
		"paused, the pods alone count": {func(s *scenario) { s.tws.Spec.Pause, s.obs.target = true, deployment(5, 10) },
			inOrder, "False/Stable", normal},
		"paused and missing": {func(s *scenario) { s.tws.Spec.Pause, s.obs.target = true, nil },
			"False/TargetNotFound", notReconciling, normal},
		"no holidays (B6)": {func(s *scenario) { s.obs.holidays.missing = "company-holidays" },
			inOrder, notReconciling, "True/HolidaySourceMissing"},
		"a holiday key is not a date (B6)": {func(s *scenario) { s.obs.holidays.invalid = []string{"Christmas"} },
			inOrder, notReconciling, normal},
		"many holiday keys are not dates": {func(s *scenario) { s.obs.holidays.invalid = []string{"a", "b", "c", "d", "e", "f", "g"} },
			inOrder, notReconciling, normal},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			tc.setUp(s)
			s.pass(inTheHours)
			s.expectCondition("Ready", tc.ready)
			s.expectCondition("Reconciling", tc.reconciling)
			s.expectCondition("Degraded", tc.degraded)
		})
	}
}

// B4: until the pods have arrived, Ready and Reconciling say the same at every pass, whatever the
// count on the way there; neither their text nor their time moves.
func TestConditionsDoNotFlapOnTheWay(t *testing.T) {
	s := newScenario(t, 2)
	s.pass("2025-01-27 08:59:00")
	now := ist("2025-01-27 09:00:00")
	s.passAt(now)
	s.expectCondition("Ready", "False/TargetMismatch")
	s.expectCondition("Reconciling", "True/WindowTransition")
	first := s.tws.Status.Conditions
	for observed := int32(3); observed < 10; observed++ {
		s.obs.target = deployment(10, observed)
		now = now.Add(time.Second)
		s.passAt(now)
		if diff := cmp.Diff(first, s.tws.Status.Conditions); diff != "" {
			t.Fatalf("with %d pods (-first +now)\n%s", observed, diff)
		}
	}
	s.obs.target = deployment(10, 10)
	s.passAt(now)
	s.expectCondition("Ready", inOrder)
	s.expectCondition("Reconciling", notReconciling)
}

// B4: ConfigurationChange when observedGeneration lags, and then until the target has arrived.
func TestReconcilingReasonHolds(t *testing.T) {
	s := newScenario(t, 10)
	s.pass(inTheHours)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(12) })
	s.pass("2025-01-27 15:00:00")
	s.expectCondition("Reconciling", "True/ConfigurationChange")
	s.obs.target = deployment(12, 11)
	s.pass("2025-01-27 15:00:01")
	s.expectCondition("Reconciling", "True/ConfigurationChange")
	s.pass("2025-01-27 17:00:00") // a boundary before it arrived
	s.expectCondition("Reconciling", "True/WindowTransition")
	s.obs.target = deployment(2, 5)
	s.pass("2025-01-27 17:00:01")
	s.expectCondition("Reconciling", "True/WindowTransition")
}

// In the steady state a pass changes nothing in the status but the next boundary, which is the
// same until then.
func TestASecondPassChangesNothing(t *testing.T) {
	s := newScenario(t, 10)
	s.pass(inTheHours)
	before := s.tws.Status
	s.pass("2025-01-27 16:59:59")
	if diff := cmp.Diff(before, s.tws.Status); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// R7.
func TestStatusFields(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Generation = 4
	s.passAt(ist(inTheHours).Add(700 * time.Millisecond))
	status := s.tws.Status
	status.Conditions = nil
	second := func(local string) *metav1.Time { return ptr.To(metav1.NewTime(ist(local).UTC())) }
	want := v1beta1.TimeWindowScalerStatus{
		CurrentWindow:          "BusinessHours",
		EffectiveReplicas:      ptr.To[int32](10),
		TargetObservedReplicas: ptr.To[int32](2),
		TargetUID:              "d-1",
		NextBoundary:           second("2025-01-27 17:00:00"),
		NextChange:             &v1beta1.NextChange{Time: *second("2025-01-27 17:00:00"), Replicas: ptr.To[int32](2)},
		LastScaleTime:          second(inTheHours), // whole seconds, as the API stores them
		ObservedGeneration:     4,
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.obs.target = nil
	s.pass("2025-01-27 15:00:00")
	if got := s.tws.Status; got.TargetObservedReplicas != nil || got.TargetUID != "" || !got.LastScaleTime.Equal(want.LastScaleTime) {
		t.Errorf("without a target: observed %v of %q, last scaled %v", got.TargetObservedReplicas, got.TargetUID, got.LastScaleTime)
	}
}

// A refusal is a condition, and an event for skipped scaling (B11).
func TestARefusedWrite(t *testing.T) {
	s := newScenario(t, 2)
	s.refusal = errRefused
	s.pass(inTheHours)
	s.expectEvents("ScalingSkipped")
	if got := s.tws.Status; got.LastScaleTime != nil || *got.EffectiveReplicas != 10 {
		t.Errorf("last scaled %v, effective %v", got.LastScaleTime, *got.EffectiveReplicas)
	}
	s.expectCondition("Degraded", "True/ScaleFailed")
}
