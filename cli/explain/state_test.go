package explain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/schedule"
)

// At ten in the morning of a Monday the office asks for ten, and outside of it for two.
const ten, evening = "2026-11-23T10:00:00Z", "2026-11-23T17:03:00Z"

// fixture is a scaler and its state in a cluster.
type fixture struct {
	tws   *v1beta1.TimeWindowScaler
	state explain.State
	at    time.Time
}

func well(t *testing.T, at string, replicas int32) *fixture {
	now := instant(t, at)
	tws := scaler("UTC", window("office", week[:5], "09:00", "17:00", 10))
	tws.Spec.GracePeriodSeconds = 300
	next := metav1.NewTime(now.Add(time.Hour))
	s := &fixture{tws: tws, at: now, state: explain.State{Generation: 3, Target: &explain.Target{
		Asks: replicas, Has: replicas, Owners: []string{"kyklos-controller"}, Written: now.Add(-time.Hour),
	}}}
	s.state.Status = v1beta1.TimeWindowScalerStatus{
		ObservedGeneration: 3, EffectiveReplicas: &replicas, NextBoundary: &next, CurrentWindow: "office",
	}
	s.condition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonReconciled, "Target has the desired replicas")
	s.condition(v1beta1.ConditionReconciling, metav1.ConditionFalse, v1beta1.ReasonStable, "The target is as desired")
	return s
}

func (s *fixture) condition(name string, status metav1.ConditionStatus, reason, message string) {
	s.state.Status.Conditions = append(s.state.Status.Conditions, metav1.Condition{
		Type: name, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(s.at.Add(-time.Hour)),
	})
}

// explained is the answer without its first sentence, the effective count, and the facts of some topics.
func (s *fixture) explained(topics ...string) (answer string, effective int32, facts []string) {
	e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
	_, answer, _ = strings.Cut(e.Answer, ". ")
	for _, fact := range e.Facts {
		for _, topic := range topics {
			if fact.Topic == topic {
				facts = append(facts, fact.Text)
			}
		}
	}
	return answer, ptr.Deref(e.Effective, -1), facts
}

func TestState(t *testing.T) {
	want := golden.New(t, "state")
	for name, tc := range map[string]struct {
		at        string
		replicas  int32
		change    func(*fixture)
		effective int32
		topic     string
	}{
		"all is well":      {ten, 10, func(*fixture) {}, 10, "target"},
		"pods are missing": {ten, 10, func(s *fixture) { s.state.Target.Has = 4 }, 10, "target"},
		"a grace period": {evening, 10, func(s *fixture) {
			s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
		}, 10, "grace period"},
		"a grace period that is over": {evening, 2, func(s *fixture) {
			s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(-time.Minute)))
		}, 2, "target"},
		"another owner": {ten, 10, func(s *fixture) { s.state.Owner, s.state.Target.Asks = "older", 7 }, 10, "owner"},
		"no target":     {ten, 10, func(s *fixture) { s.state.Target, s.state.Missing = nil, "there is no Deployment site" }, 10, "target"},
		"a pause":       {ten, 10, func(s *fixture) { s.tws.Spec.Pause, s.state.Target.Asks = true, 5 }, 10, "pause"},
		"drift":         {ten, 10, func(s *fixture) { s.state.Target.Asks, s.state.Target.Owners = 5, []string{"kubectl"} }, 10, "target"},
		"a fight": {ten, 10, func(s *fixture) {
			s.state.Target.Asks = 5
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonFieldFight, "Field manager argocd rewrites")
		}, 10, "Degraded"},
		"a refusal": {ten, 10, func(s *fixture) {
			s.state.Target.Asks = 5
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonScaleFailed, "The API server refuses")
		}, 10, "Degraded"},
		"no manager": {ten, 10, func(s *fixture) {
			s.state.Target.Asks = 5
			s.state.Status.NextBoundary = ptr.To(metav1.NewTime(s.at.Add(-time.Hour)))
		}, 10, "status"},
		"an edit that was not processed": {ten, 10, func(s *fixture) { s.state.Generation = 4 }, 10, "status"},
		"an edit whose status is refused": {ten, 10, func(s *fixture) {
			s.state.Generation, s.state.Status.EffectiveReplicas = 4, ptr.To[int32](7)
		}, 10, "status"},
		"a new object": {ten, 10, func(s *fixture) {
			s.state.Status, s.state.Target.Owners = v1beta1.TimeWindowScalerStatus{}, []string{"kubectl"}
		}, 10, "status"},
		"a status that was always refused": {ten, 10, func(s *fixture) { s.state.Status = v1beta1.TimeWindowScalerStatus{} }, 10, "status"},
		"a status that has been refused for a while": {ten, 10, func(s *fixture) {
			s.state.Status.NextBoundary, s.state.Status.EffectiveReplicas = ptr.To(metav1.NewTime(s.at.Add(-time.Hour))), ptr.To[int32](2)
		}, 10, "status"},
		"an autoscaler":        {ten, 10, func(s *fixture) { s.state.Autoscaler = "site" }, 10, "autoscaler"},
		"what may not be read": {ten, 10, func(s *fixture) { s.state.Target, s.state.Unknown = nil, []string{"you may not read the target"} }, 10, "unknown"},
		"a metric": {ten, 7, func(s *fixture) {
			s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			}
		}, 7, "metric"},
		"a metric of a window that was not processed": {ten, 7, func(s *fixture) {
			s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			}
			s.state.Status.CurrentWindow = "OffHours"
		}, -1, "target"},
		"a Workspace that a user stopped": {ten, 1, func(s *fixture) {
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			s.tws.Spec.Windows[0].Replicas.IntVal = 1
			s.state.Target = &explain.Target{Desired: "STANDBY"}
		}, 1, "target"},
		"a Workspace whose owner is away": {ten, 1, func(s *fixture) {
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			s.tws.Spec.Windows[0].Replicas.IntVal = 1
			s.state.Target = &explain.Target{Desired: "PENDING", Used: s.at.Add(-10 * 24 * time.Hour)}
		}, 1, "target"},
		"a Workspace that was archived in the window": {ten, 1, func(s *fixture) {
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			s.tws.Spec.Windows[0].Replicas.IntVal = 1
			s.state.Target = &explain.Target{Desired: "PENDING", Used: s.at.Add(-time.Hour)}
		}, 1, "target"},
		"a DaemonSet": {ten, 1, func(s *fixture) {
			s.tws.Spec.TargetRef.Kind, s.tws.Spec.Windows[0].Replicas.IntVal = "DaemonSet", 1
			s.state.Target = &explain.Target{Has: 3}
		}, 1, "target"},
	} {
		s := well(t, tc.at, tc.replicas)
		tc.change(s)
		answer, effective, facts := s.explained(tc.topic)
		if effective != tc.effective {
			t.Errorf("%s: %d, want %d", name, effective, tc.effective)
		}
		want.Add(name, append([]string{"answer: " + answer}, facts...)...)
	}
}

// A schedule whose deletion waits for a finalizer decides nothing any more (B8).
func TestADeletionThatWaits(t *testing.T) {
	s := well(t, ten, 10)
	s.tws.DeletionTimestamp, s.tws.Finalizers = ptr.To(metav1.NewTime(s.at)), []string{"x.example.com/hold"}
	s.state.Deleting, s.state.Target.Asks = schedule.Deleting(s.tws), 1
	e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
	want := "At Mon 2026-11-23 10:00 UTC web asks for nothing: it is being deleted and waits for the finalizer x.example.com/hold; its target is no longer scaled."
	if e.Answer != want || e.Decider != explain.ByNothing || e.Replicas != nil || e.Effective != nil || e.Next != nil {
		t.Errorf("%s\n%+v", e.Answer, e)
	}
}

func TestTextAndJSON(t *testing.T) {
	s := well(t, evening, 10)
	s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
	e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
	var plain, coloured bytes.Buffer
	if err := explain.Text(&plain, e, false); err != nil {
		t.Fatal(err)
	}
	golden.New(t, "text").Add("a grace period", plain.String())
	if err := explain.Text(&coloured, e, true); err != nil {
		t.Fatal(err)
	}
	bare := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[32m", "", "\x1b[0m", "").Replace(coloured.String())
	if bare == coloured.String() || bare != plain.String() {
		t.Errorf("in colours:\n%s", coloured.String())
	}
	var encoded bytes.Buffer
	if err := explain.JSON(&encoded, []*explain.Explanation{e}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Explanations []struct {
			Name, Time, Local, DecidedBy, Window, Answer string
			Replicas, EffectiveReplicas                  int32
			Windows                                      []struct{ Window, When, State string }
			Facts                                        []explain.Fact
			Next                                         []struct{ Time, GraceUntil string }
		}
	}
	if err := json.Unmarshal(encoded.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	one := got.Explanations[0]
	if one.Replicas != 2 || one.EffectiveReplicas != 10 || one.DecidedBy != "Default" || one.Window != "OffHours" || one.Time != "2026-11-23T17:03:00Z" ||
		one.Local != "2026-11-23T17:03:00+00:00" || one.Windows[0].State != "Ended" || len(one.Facts) != 5 || one.Next[1].GraceUntil != "2026-11-24T17:05:00Z" {
		t.Errorf("%+v", one)
	}
}

func TestHolidayFacts(t *testing.T) {
	tws := scaler("UTC", window("", week, "09:00", "17:00", 10))
	tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	ignored := tws.DeepCopy()
	ignored.Spec.Holidays.Mode = v1beta1.HolidayIgnore
	want := golden.New(t, "holidays")
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		holidays explain.Holidays
	}{
		"listed":               {tws, explain.Holidays{Dates: map[string]bool{"2026-11-23": true}}},
		"not listed":           {tws, explain.Holidays{Dates: map[string]bool{"2026-12-26": true, "2026-12-25": true, "2026-01-01": true}}},
		"missing":              {tws, explain.Holidays{Missing: true}},
		"unread":               {tws, explain.Holidays{Unread: "forbidden"}},
		"unread, on a holiday": {tws, explain.Holidays{Unread: "forbidden", Dates: map[string]bool{"2026-11-23": true}}},
		"no dates":             {tws, explain.Holidays{Invalid: []string{"25.12.2026"}}},
		"ignored":              {ignored, explain.Holidays{}},
	} {
		var got []string
		for _, fact := range explain.Explain(tc.tws, tc.holidays, nil, instant(t, ten)).Facts {
			if fact.Topic == "holidays" {
				got = append(got, fact.Text)
			}
		}
		want.Add(name, got...)
	}
}
