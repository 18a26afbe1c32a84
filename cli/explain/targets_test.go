package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

// byQueue is a metric of 1 to 20 replicas.
func byQueue() *v1beta1.WindowMetric {
	return &v1beta1.WindowMetric{Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"}}
}

// What is said of targets that differ from what they should be, each in the words of its kind.
func TestTargetsThatDiffer(t *testing.T) {
	workspace := func(s *situation) {
		s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
		s.state.Target, s.state.Status.EffectiveReplicas = &explain.Target{Desired: "STANDBY"}, ptr.To[int32](1)
	}
	daemonSet := func(s *situation) {
		s.tws.Spec.TargetRef.Kind, s.state.Target = "DaemonSet", &explain.Target{Suspended: true, Has: 1}
	}
	const mends = " at this moment; Kyklos sets it right at once."
	for name, tc := range map[string]struct {
		change       func(*situation)
		answer, fact string
	}{
		"no count": {func(s *situation) { s.state.Target = &explain.Target{Unset: true, Has: 3} },
			"Deployment site has another count" + mends, "Deployment site should be 10 replicas: its spec asks for no count, and it has 3"},
		"0 asked for": {func(s *situation) { s.state.Target = &explain.Target{Has: 3} },
			"Deployment site has 0" + mends, "Deployment site should be 10 replicas: its spec asks for 0, and it has 3"},
		"two owners, just now": {func(s *situation) {
			s.state.Target = &explain.Target{Asks: 5, Has: 5, Owners: []string{"kubectl", "argocd"}, Written: s.at}
		}, "Deployment site has 5" + mends, "Deployment site should be 10 replicas: its spec asks for 5, and it has 5; written by kubectl and argocd, just now"},
		"a DaemonSet that is suspended": {daemonSet, "DaemonSet site has another count" + mends,
			"DaemonSet site should be 10 (to run): it is suspended, and 1 nodes have one of its pods"},
		"a DaemonSet that runs": {func(s *situation) {
			daemonSet(s)
			s.tws.Spec.Windows[0].Replicas.IntVal, s.state.Target.Suspended, s.state.Status.EffectiveReplicas = 0, false, ptr.To[int32](0)
		}, "DaemonSet site has another count" + mends, "DaemonSet site should be 0 (to be suspended): it runs, and 1 nodes have one of its pods"},
		"a Workspace that is not there yet": {func(s *situation) {
			workspace(s)
			s.state.Status.Conditions[0].Status = metav1.ConditionFalse
		}, "Workspace ada has STANDBY" + mends, "Workspace ada should be RUNNING: its desiredState is STANDBY"},
		"no permission": {func(s *situation) {
			s.state.Target.Asks = 4
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonTargetForbidden, "No permission")
		}, "Deployment site has 4: Kyklos may not change it, see Degraded.",
			"Deployment site should be 10 replicas: its spec asks for 4, and it has 10; written by kyklos-controller, 1 h ago"},
		"degraded no more": {func(s *situation) {
			s.state.Target.Asks = 4
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionFalse, v1beta1.ReasonTargetForbidden, "It was so once")
		}, "Deployment site has 4" + mends, "Deployment site should be 10 replicas: its spec asks for 4, and it has 10; written by kyklos-controller, 1 h ago"},
		"a look that is late by no more than usual": {func(s *situation) {
			s.state.Target.Asks = 4
			s.state.Status.NextBoundary = ptr.To(metav1.NewTime(s.at.Add(-2 * time.Minute)))
		}, "Deployment site has 4" + mends, "Deployment site should be 10 replicas: its spec asks for 4, and it has 10; written by kyklos-controller, 1 h ago"},
	} {
		s := well(t, ten, 10)
		tc.change(s)
		answer, _, facts := s.told("target")
		if diff := cmp.Diff([]string{tc.answer, tc.fact}, append([]string{answer}, facts...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a grace period keeps is said in the singular, and of what is on or off without a number.
func TestWhatStays(t *testing.T) {
	for name, tc := range map[string]struct {
		effective int32
		kind      string
		want      string
	}{
		"many":        {4, "Deployment", "4 replicas stay"},
		"one":         {1, "Deployment", "1 replica stays"},
		"a DaemonSet": {4, "DaemonSet", "4 (to run) stays"},
		"a Workspace": {1, "Workspace", "RUNNING stays"},
	} {
		s := well(t, evening, tc.effective)
		s.tws.Spec.DefaultReplicas.IntVal, s.tws.Spec.TargetRef.Kind, s.state.Target = 0, tc.kind, nil
		if tc.kind == "Workspace" {
			s.tws.Spec.TargetRef.APIVersion = "kyklos.io/v1alpha1"
		}
		s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
		answer, effective, _ := s.told()
		if want := "Its grace period runs: " + tc.want + " until Mon 2026-11-23 17:05 UTC."; answer != want || effective != tc.effective {
			t.Errorf("%s: %d, %q, want %d, %q", name, effective, answer, tc.effective, want)
		}
	}
}

// The count of a metric is the cluster's, and the answer says where it comes from.
func TestMetricAnswers(t *testing.T) {
	const begin, end = "At Mon 2026-11-23 10:00 UTC web asks for ", ": window office (Mon-Fri 09:00-17:00) covers it."
	for name, tc := range map[string]struct {
		change   func(*situation)
		want     string
		replicas int32
	}{
		"it says so": {func(*situation) {}, "7 replicas, as the metric queue says", 7},
		"it has no value": {func(s *situation) {
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonMetricUnavailable, "No value")
		}, "7 replicas, what it falls back on while the metric queue has no value", 7},
		"nobody has asked yet": {func(s *situation) { s.state.Status.EffectiveReplicas = nil },
			"1 to 20 replicas, as the metric queue says, and for 10 while that has no value", 10},
	} {
		s := well(t, ten, 7)
		s.tws.Spec.Windows[0].Metric = byQueue()
		tc.change(s)
		e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
		if !strings.HasPrefix(e.Answer, begin+tc.want+end) || *e.Replicas != tc.replicas {
			t.Errorf("%s: %d, %s", name, *e.Replicas, e.Answer)
		}
	}
}

// Of a spec that cannot be followed, what the controller says of it is shown, and nothing that would follow from the schedule.
func TestBrokenInACluster(t *testing.T) {
	s := well(t, ten, 10)
	s.tws.Spec.Windows[0].Start = "9:00"
	s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonInvalidConfiguration, "It is broken")
	e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
	want := []explain.Fact{
		{Topic: "Ready", Text: "True since Mon 2026-11-23 09:00 UTC: Reconciled: Target has the desired replicas"},
		{Topic: "Degraded", Text: "True since Mon 2026-11-23 09:00 UTC: InvalidConfiguration: It is broken"},
	}
	if diff := cmp.Diff(want, e.Facts); diff != "" || e.Effective != nil || e.Next != nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var text strings.Builder
	if err := explain.Text(&text, e, false); err != nil || strings.Contains(text.String(), "Windows") || strings.Contains(text.String(), "change") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}
