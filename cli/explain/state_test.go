package explain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

// At ten in the morning of a Monday the office asks for ten, and outside of it for two.
const ten, evening = "2026-11-23T10:00:00Z", "2026-11-23T17:03:00Z"

// situation is a scaler, and what a cluster in which all is well says of it.
type situation struct {
	tws   *v1beta1.TimeWindowScaler
	state explain.State
	at    time.Time
}

func well(t *testing.T, at string, replicas int32) *situation {
	now := instant(t, at)
	tws := scaler("UTC", window("office", week[:5], "09:00", "17:00", 10))
	tws.Spec.GracePeriodSeconds = 300
	next := metav1.NewTime(now.Add(time.Hour))
	s := &situation{tws: tws, at: now, state: explain.State{Generation: 3, Target: &explain.Target{
		Asks: replicas, Has: replicas, Owners: []string{"kyklos-controller"}, Written: now.Add(-time.Hour),
	}}}
	s.state.Status = v1beta1.TimeWindowScalerStatus{
		ObservedGeneration: 3, EffectiveReplicas: &replicas, NextBoundary: &next, CurrentWindow: "office",
	}
	s.condition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonReconciled, "Target has the desired replicas")
	s.condition(v1beta1.ConditionReconciling, metav1.ConditionFalse, v1beta1.ReasonStable, "The target is as desired")
	return s
}

func (s *situation) condition(name string, status metav1.ConditionStatus, reason, message string) {
	s.state.Status.Conditions = append(s.state.Status.Conditions, metav1.Condition{
		Type: name, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(s.at.Add(-time.Hour)),
	})
}

// told is what follows the first sentence of the answer, and the facts of some topics.
func (s *situation) told(topics ...string) (answer string, effective int32, facts []string) {
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
	for name, tc := range map[string]struct {
		at        string
		replicas  int32
		change    func(*situation)
		answer    string
		effective int32
		topic     string
		facts     []string
	}{
		"all is well": {ten, 10, func(*situation) {}, "", 10, "target",
			[]string{"Deployment site is as it should be: its spec asks for 10, and it has 10; written by kyklos-controller, 1 h ago"}},
		"pods are missing": {ten, 10, func(s *situation) { s.state.Target.Has = 4 }, "", 10, "target",
			[]string{"Deployment site is as it should be: its spec asks for 10, and it has 4; written by kyklos-controller, 1 h ago"}},
		"a grace period": {evening, 10, func(s *situation) {
			s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
		}, "Its grace period runs: 10 replicas stay until Mon 2026-11-23 17:05 UTC.", 10, "grace period",
			[]string{"a lower count waits 5 min, a higher one never", "it runs until Mon 2026-11-23 17:05 UTC, in 2 min: 10 replicas stay until then"}},
		"a grace period that is over": {evening, 2, func(s *situation) {
			s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(-time.Minute)))
		}, "", 2, "target", []string{"Deployment site is as it should be: its spec asks for 2, and it has 2; written by kyklos-controller, 1 h ago"}},
		"another owner": {ten, 10, func(s *situation) { s.state.Owner, s.state.Target.Asks = "older", 7 },
			"It does nothing: Deployment site belongs to the older TimeWindowScaler older.", 10, "owner",
			[]string{"Deployment site belongs to the older TimeWindowScaler older: this one does nothing to it"}},
		"no target": {ten, 10, func(s *situation) { s.state.Target, s.state.Missing = nil, "there is no Deployment site" },
			"There is nothing to scale: there is no Deployment site.", 10, "target", []string{"there is no Deployment site"}},
		"a pause": {ten, 10, func(s *situation) { s.tws.Spec.Pause, s.state.Target.Asks = true, 5 },
			"It is paused (spec.pause), so Kyklos leaves Deployment site with 5.", 10, "pause",
			[]string{"spec.pause is true: Kyklos computes and reports, and leaves the target alone"}},
		"drift": {ten, 10, func(s *situation) { s.state.Target.Asks, s.state.Target.Owners = 5, []string{"kubectl"} },
			"Deployment site has 5 at this moment; Kyklos sets it right at once.", 10, "target",
			[]string{"Deployment site should be 10 replicas: its spec asks for 5, and it has 10; written by kubectl, 1 h ago"}},
		"a fight": {ten, 10, func(s *situation) {
			s.state.Target.Asks = 5
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonFieldFight, "Field manager argocd rewrites")
		}, "Deployment site has 5: somebody else sets it again and again, and Kyklos corrects it ever less often.", 10, "Degraded",
			[]string{"True since Mon 2026-11-23 09:00 UTC: FieldFight: Field manager argocd rewrites"}},
		"a refusal": {ten, 10, func(s *situation) {
			s.state.Target.Asks = 5
			s.condition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonScaleFailed, "The API server refuses")
		}, "Deployment site has 5: Kyklos may not change it, see Degraded.", 10, "Degraded",
			[]string{"True since Mon 2026-11-23 09:00 UTC: ScaleFailed: The API server refuses"}},
		"no manager": {ten, 10, func(s *situation) {
			s.state.Target.Asks = 5
			s.state.Status.NextBoundary = ptr.To(metav1.NewTime(s.at.Add(-time.Hour)))
		}, "Deployment site has 5, and nobody sets it right: Kyklos should have looked at Mon 2026-11-23 09:00 UTC and did not, its manager may not be running.", 10, "status",
			[]string{"Kyklos should have looked at Mon 2026-11-23 09:00 UTC and did not, its manager may not be running"}},
		"an edit that nobody has seen": {ten, 10, func(s *situation) { s.state.Generation = 4 }, "", 10, "status",
			[]string{"Kyklos has not looked since the spec was changed (generation 3 of 4)"}},
		"nobody has looked ever": {ten, 10, func(s *situation) { s.state.Status = v1beta1.TimeWindowScalerStatus{} }, "", 10, "status",
			[]string{"Kyklos has not looked at this TimeWindowScaler yet, its manager may not be running"}},
		"an autoscaler": {ten, 10, func(s *situation) { s.state.Autoscaler = "site" }, "", 10, "autoscaler",
			[]string{"HorizontalPodAutoscaler site scales the same target: only one of the two can decide"}},
		"what may not be read": {ten, 10, func(s *situation) { s.state.Target, s.state.Unknown = nil, []string{"you may not read the target"} }, "", 10, "unknown",
			[]string{"you may not read the target"}},
		"a metric": {ten, 7, func(s *situation) {
			s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			}
		}, "", 7, "metric",
			[]string{"queue keeps AverageValue 30 and sets the count between 1 and 20; after three polls without a value it is 10 (external metrics)"}},
		"a metric whose window nobody has seen yet": {ten, 7, func(s *situation) {
			s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			}
			s.state.Status.CurrentWindow = "OffHours"
		}, "", -1, "target", []string{"Deployment site: its spec asks for 7, and it has 7; written by kyklos-controller, 1 h ago"}},
		"a Workspace that somebody stopped": {ten, 1, func(s *situation) {
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			s.tws.Spec.Windows[0].Replicas.IntVal = 1
			s.state.Target = &explain.Target{Desired: "STANDBY"}
		}, "Workspace ada is left in STANDBY, as somebody asked for since: the next start or end of a window decides anew.", 1, "target",
			[]string{"Workspace ada should be RUNNING: its desiredState is STANDBY"}},
		"a DaemonSet": {ten, 1, func(s *situation) {
			s.tws.Spec.TargetRef.Kind, s.tws.Spec.Windows[0].Replicas.IntVal = "DaemonSet", 1
			s.state.Target = &explain.Target{Has: 3}
		}, "", 1, "target", []string{"DaemonSet site is as it should be: it runs, and 3 nodes have one of its pods"}},
	} {
		s := well(t, tc.at, tc.replicas)
		tc.change(s)
		answer, effective, facts := s.told(tc.topic)
		if answer != tc.answer || effective != tc.effective {
			t.Errorf("%s: %d, %q, want %d, %q", name, effective, answer, tc.effective, tc.answer)
		}
		if diff := cmp.Diff(tc.facts, facts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTextAndJSON(t *testing.T) {
	s := well(t, evening, 10)
	s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
	e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
	want := `At Mon 2026-11-23 17:03 UTC web asks for 2 replicas: no window covers it, so defaultReplicas apply. Its grace period runs: 10 replicas stay until Mon 2026-11-23 17:05 UTC.

shop/web scales Deployment site, in UTC

Windows, of which the last that covers decides:
  1  office  Mon-Fri 09:00-17:00  10  ended at 17:00, 3 min ago; next Tue 09:00, in 15 h 57 min

  otherwise     outside all windows: 2
  grace period  a lower count waits 5 min, a higher one never
  grace period  it runs until Mon 2026-11-23 17:05 UTC, in 2 min: 10 replicas stay until then
  target        Deployment site is as it should be: its spec asks for 10, and it has 10; written by kyklos-controller, 1 h ago
  Ready         True since Mon 2026-11-23 16:03 UTC: Reconciled: Target has the desired replicas

Next changes of the count:
  Tue 2026-11-24 09:00 UTC  2 -> 10  in 15 h 57 min  window entered: office
  Tue 2026-11-24 17:00 UTC  10 -> 2  in 23 h 57 min  window left: office; 10 kept until 17:05
  Wed 2026-11-25 09:00 UTC  2 -> 10  in 39 h 57 min  window entered: office
`
	var plain, coloured bytes.Buffer
	if err := explain.Text(&plain, e, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, plain.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := explain.Text(&coloured, e, true); err != nil {
		t.Fatal(err)
	}
	bare := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[32m", "", "\x1b[0m", "").Replace(coloured.String())
	if bare == coloured.String() || bare != want {
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
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		holidays explain.Holidays
		want     []string
	}{
		"listed":     {tws, explain.Holidays{Dates: map[string]bool{"2026-11-23": true}}, []string{"2026-11-23 is listed in ConfigMap days (treat-as-closed)"}},
		"not listed": {tws, explain.Holidays{Dates: map[string]bool{"2026-12-26": true, "2026-12-25": true, "2026-01-01": true}}, []string{"2026-11-23 is not listed in ConfigMap days (treat-as-closed); the next is 2026-12-25"}},
		"missing":    {tws, explain.Holidays{Missing: true}, []string{"ConfigMap days is not there: every day counts as a normal day"}},
		"unread": {tws, explain.Holidays{Unread: "forbidden"}, []string{
			"you may not read ConfigMap days, which Kyklos goes by, so every day is explained as a normal day: forbidden"}},
		"unread, on a holiday": {tws, explain.Holidays{Unread: "forbidden", Dates: map[string]bool{"2026-11-23": true}}, []string{
			"you may not read ConfigMap days, which Kyklos goes by, but today is a holiday, as the status says: forbidden"}},
		"no dates": {tws, explain.Holidays{Invalid: []string{"25.12.2026"}}, []string{
			"2026-11-23 is not listed in ConfigMap days (treat-as-closed)", "these keys of ConfigMap days are no dates, and do nothing: 25.12.2026",
		}},
		"ignored": {ignored, explain.Holidays{}, []string{"the mode is ignore: every day is a day like any other"}},
	} {
		var got []string
		for _, fact := range explain.Explain(tc.tws, tc.holidays, nil, instant(t, ten)).Facts {
			if fact.Topic == "holidays" {
				got = append(got, fact.Text)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
