package timewindowscaler

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	toTen      = "Target does not have the desired 10 replicas yet (window: BusinessHours)"
	bringing   = "Bringing the target to 10 replicas (window: BusinessHours)"
	settled    = "False/Stable: The target is as it should be"
	nothing    = "False/Stable: Nothing can be done about the target now; see Ready and Degraded"
	inOrder    = "True/Reconciled: Target has the desired 10 replicas (window: BusinessHours)"
	normal     = "False/OperationalNormal: Everything in the spec is at work"
	inTheHours = "2025-01-27 14:00:00"
)

// R6, B4.
func TestConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		tell                         func(*story)
		ready, reconciling, degraded string
	}{
		"in order": {func(*story) {}, inOrder, settled, normal},
		"pods still to come": {func(s *story) { s.obs.target = deployment(10, 2) },
			"False/TargetMismatch: " + toTen, "True/ConfigurationChange: " + bringing, normal},
		"pods happen to be as many, but the spec is not": {func(s *story) { s.refusal = errRefused; s.obs.target = deployment(3, 10) },
			"False/TargetMismatch: " + toTen, nothing, "True/ScaleFailed: The API server refuses to scale the target: " + errRefused.Error()},
		"no target (R11)": {func(s *story) { s.obs.target = nil },
			"False/TargetNotFound: Target Deployment production/webapp not found", nothing, normal},
		"owned by another (B8)": {func(s *story) { s.obs.owner = "older" },
			"False/TargetConflict: Deployment webapp belongs to the older TimeWindowScaler older", nothing, normal},
		"owned by another and missing": {func(s *story) { s.obs.owner, s.obs.target = "older", nil },
			"False/TargetConflict: Deployment webapp belongs to the older TimeWindowScaler older", nothing, normal},
		"paused and apart (R10)": {func(s *story) { s.tws.Spec.Pause, s.obs.target = true, deployment(5, 5) },
			"False/TargetMismatch: Target has 5 replicas but desired is 10 (pause=true)", "False/Stable: Paused: the target is left alone", normal},
		"paused and aligned": {func(s *story) { s.tws.Spec.Pause = true },
			inOrder, "False/Stable: Paused: the target is left alone", normal},
		"paused, the pods alone count (R10)": {func(s *story) { s.tws.Spec.Pause, s.obs.target = true, deployment(5, 10) },
			inOrder, "False/Stable: Paused: the target is left alone", normal},
		"paused and missing": {func(s *story) { s.tws.Spec.Pause, s.obs.target = true, nil },
			"False/TargetNotFound: Target Deployment production/webapp not found", nothing, normal},
		"no holidays (B6)": {func(s *story) { s.obs.holidays.missing = "company-holidays" },
			inOrder, settled, "True/HolidaySourceMissing: ConfigMap company-holidays with the holidays not found; every day counts as a normal day"},
		"a holiday key is no date (B6)": {func(s *story) { s.obs.holidays.invalid = []string{"Christmas"} },
			inOrder, settled, normal + ", but these holiday keys are no yyyy-mm-dd dates: Christmas"},
		"many holiday keys are no dates": {func(s *story) { s.obs.holidays.invalid = []string{"a", "b", "c", "d", "e", "f", "g"} },
			inOrder, settled, normal + ", but these holiday keys are no yyyy-mm-dd dates: a, b, c, d, e and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, 10)
			tc.tell(s)
			s.passes(inTheHours)
			s.shows("Ready", tc.ready)
			s.shows("Reconciling", tc.reconciling)
			s.shows("Degraded", tc.degraded)
		})
	}
}

// B4: until the pods have arrived, Ready and Reconciling say the same at every pass, whatever the
// count on the way there; neither their text nor their time moves.
func TestConditionsDoNotFlapOnTheWay(t *testing.T) {
	s := newStory(t, 2)
	s.passes("2025-01-27 08:59:00")
	now := ist("2025-01-27 09:00:00")
	s.passesAt(now)
	s.shows("Ready", "False/TargetMismatch: "+toTen)
	s.shows("Reconciling", "True/WindowTransition: "+bringing)
	first := s.tws.Status.Conditions
	for observed := int32(3); observed < 10; observed++ {
		s.obs.target = deployment(10, observed)
		now = now.Add(time.Second)
		s.passesAt(now)
		if diff := cmp.Diff(first, s.tws.Status.Conditions); diff != "" {
			t.Fatalf("with %d pods (-first +now)\n%s", observed, diff)
		}
	}
	s.obs.target = deployment(10, 10)
	s.passesAt(now)
	s.shows("Ready", inOrder)
	s.shows("Reconciling", settled)
}

// B4: ConfigurationChange when observedGeneration lags, and then until the target has arrived.
func TestReconcilingReasonHolds(t *testing.T) {
	s := newStory(t, 10)
	s.passes(inTheHours)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(12) })
	const change = "True/ConfigurationChange: Bringing the target to 12 replicas (window: BusinessHours)"
	s.passes("2025-01-27 15:00:00")
	s.shows("Reconciling", change)
	s.obs.target = deployment(12, 11)
	s.passes("2025-01-27 15:00:01")
	s.shows("Reconciling", change)
	s.passes("2025-01-27 17:00:00") // a boundary before it arrived
	s.shows("Reconciling", "True/WindowTransition: Bringing the target to 2 replicas (window: OffHours)")
	s.obs.target = deployment(2, 5)
	s.passes("2025-01-27 17:00:01")
	s.shows("Reconciling", "True/WindowTransition: Bringing the target to 2 replicas (window: OffHours)")
}

// In the steady state a pass changes nothing of the status but the next boundary, which is the
// same until it is passed.
func TestASecondPassChangesNothing(t *testing.T) {
	s := newStory(t, 10)
	s.passes(inTheHours)
	before := s.tws.Status
	s.passes("2025-01-27 16:59:59")
	if diff := cmp.Diff(before, s.tws.Status); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// R7.
func TestStatusFields(t *testing.T) {
	s := newStory(t, 2)
	s.tws.Generation = 4
	s.passesAt(ist(inTheHours).Add(700 * time.Millisecond))
	status := s.tws.Status
	status.Conditions = nil
	second := func(local string) *metav1.Time { return ptr.To(metav1.NewTime(ist(local).UTC())) }
	want := v1beta1.TimeWindowScalerStatus{
		CurrentWindow:          "BusinessHours",
		EffectiveReplicas:      ptr.To[int32](10),
		TargetObservedReplicas: ptr.To[int32](2),
		NextBoundary:           second("2025-01-27 17:00:00"),
		LastScaleTime:          second(inTheHours), // whole seconds, as the API stores them
		ObservedGeneration:     4,
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.obs.target = nil
	s.passes("2025-01-27 15:00:00")
	if got := s.tws.Status; got.TargetObservedReplicas != nil || !got.LastScaleTime.Equal(want.LastScaleTime) {
		t.Errorf("without a target: observed %v, last scaled %v", got.TargetObservedReplicas, got.LastScaleTime)
	}
}

// A refusal is shown, and told as skipped scaling (B11).
func TestARefusedWriteIsTold(t *testing.T) {
	s := newStory(t, 2)
	s.refusal = errRefused
	s.passes(inTheHours)
	s.hears("Scaling skipped due to UpdateFailed: current=2, desired=10")
	if got := s.tws.Status; got.LastScaleTime != nil || *got.EffectiveReplicas != 10 {
		t.Errorf("last scaled %v, effective %v", got.LastScaleTime, *got.EffectiveReplicas)
	}
	s.shows("Degraded", fmt.Sprintf("True/ScaleFailed: The API server refuses to scale the target: %s", errRefused))
}
