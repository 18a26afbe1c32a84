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
	"kyklos.io/kyklos/internal/golden"
)

// byQueue is a metric of 1 to 20 replicas.
func byQueue() *v1beta1.WindowMetric {
	return &v1beta1.WindowMetric{Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"}}
}

func TestTargetsOutOfSync(t *testing.T) {
	workspace := func(s *fixture) {
		s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
		s.state.Target, s.state.Status.EffectiveReplicas = &explain.Target{Desired: "STANDBY"}, ptr.To[int32](1)
	}
	daemonSet := func(s *fixture) {
		s.tws.Spec.TargetRef.Kind, s.state.Target = "DaemonSet", &explain.Target{Suspended: true, Has: 1}
	}
	want := golden.New(t, "targets")
	for name, change := range map[string]func(*fixture){
		"no count":    func(s *fixture) { s.state.Target = &explain.Target{Unset: true, Has: 3} },
		"0 asked for": func(s *fixture) { s.state.Target = &explain.Target{Has: 3} },
		"two owners, just now": func(s *fixture) {
			s.state.Target = &explain.Target{Asks: 5, Has: 5, Owners: []string{"kubectl", "argocd"}, Written: s.at}
		},
		"a DaemonSet that is suspended": daemonSet,
		"a DaemonSet that runs": func(s *fixture) {
			daemonSet(s)
			s.tws.Spec.Windows[0].Replicas.IntVal, s.state.Target.Suspended, s.state.Status.EffectiveReplicas = 0, false, ptr.To[int32](0)
		},
		"a Workspace that is not ready": func(s *fixture) {
			workspace(s)
			s.state.Status.Conditions[0].Status = metav1.ConditionFalse
		},
		"no permission": func(s *fixture) {
			s.state.Target.Asks = 4
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonTargetForbidden, "No permission")
		},
		"no longer degraded": func(s *fixture) {
			s.state.Target.Asks = 4
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionFalse, v1beta1.ReasonTargetForbidden, "It was so once")
		},
		"a boundary passed just now": func(s *fixture) {
			s.state.Target.Asks = 4
			s.state.Status.NextBoundary = ptr.To(metav1.NewTime(s.at.Add(-2 * time.Minute)))
		},
	} {
		s := well(t, ten, 10)
		change(s)
		answer, _, facts := s.explained("target")
		want.Add(name, append([]string{answer}, facts...)...)
	}
}

// A grace period keeps a count, or the state of a Workspace or a DaemonSet.
func TestWhatGracePeriodsKeep(t *testing.T) {
	want := golden.New(t, "grace-periods")
	for name, tc := range map[string]struct {
		effective int32
		kind      string
	}{
		"many": {4, "Deployment"}, "one": {1, "Deployment"}, "a DaemonSet": {4, "DaemonSet"}, "a Workspace": {1, "Workspace"},
	} {
		s := well(t, evening, tc.effective)
		s.tws.Spec.DefaultReplicas.IntVal, s.tws.Spec.TargetRef.Kind, s.state.Target = 0, tc.kind, nil
		if tc.kind == "Workspace" {
			s.tws.Spec.TargetRef.APIVersion = "kyklos.io/v1alpha1"
		}
		s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
		answer, effective, _ := s.explained()
		if effective != tc.effective {
			t.Errorf("%s: %d, want %d", name, effective, tc.effective)
		}
		want.Add(name, answer)
	}
}

// The count of a metric comes from the cluster's status.
func TestMetricAnswers(t *testing.T) {
	want := golden.New(t, "metrics")
	for name, tc := range map[string]struct {
		change   func(*fixture)
		replicas int32
	}{
		"a value": {func(*fixture) {}, 7},
		"no value": {func(s *fixture) {
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonMetricUnavailable, "No value")
		}, 7},
		"not polled yet": {func(s *fixture) { s.state.Status.EffectiveReplicas = nil }, 10},
	} {
		s := well(t, ten, 7)
		s.tws.Spec.Windows[0].Metric = byQueue()
		tc.change(s)
		e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
		if *e.Replicas != tc.replicas {
			t.Errorf("%s: %d", name, *e.Replicas)
		}
		want.Add(name, e.Answer)
	}
}

// For an invalid spec, only the conditions are shown.
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
