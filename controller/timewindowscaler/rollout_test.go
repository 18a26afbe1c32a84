package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// B4: once the target has arrived, its own controller may have more pods or fewer for a time; the schedule has
// nothing to do with that. Neither the reason nor the time of any condition moves.
func TestARolloutOfTheTargetIsNotATransition(t *testing.T) {
	for name, counts := range map[string][]int32{
		"surge":                        {11, 13, 12, 11, 10},
		"one pod less at a time":       {9, 10, 9, 8, 10},
		"surge and unavailability":     {13, 8, 11, 10},
		"all pods are created again":   {0, 3, 9, 10},
		"evicted, then a rollout":      {9, 10, 12, 10},
		"the count stays out of order": {13, 13, 13},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			now := ist(inTheHours)
			s.passAt(now)
			first := moments(s.tws)
			for _, observed := range counts {
				now = now.Add(time.Minute)
				s.obs.target = deployment(10, observed)
				p := s.passAt(now)
				if diff := cmp.Diff(first, moments(s.tws)); diff != "" {
					t.Fatalf("with %d pods (-before +now)\n%s", observed, diff)
				}
				if p.plan.Write || *s.tws.Status.TargetObservedReplicas != observed {
					t.Errorf("with %d pods: write %t, observed %d", observed, p.plan.Write, *s.tws.Status.TargetObservedReplicas)
				}
				s.expectCondition("Ready", inOrder)
			}
		})
	}
}

// moments are the conditions without their messages.
func moments(tws *v1beta1.TimeWindowScaler) (all []string) {
	for _, c := range tws.Status.Conditions {
		all = append(all, c.Type+"="+string(c.Status)+" "+c.Reason+" "+c.LastTransitionTime.String())
	}
	return all
}

// B4: what Kyklos, a user or the schedule changes has to arrive first, also in the middle of a rollout.
func TestAfterAChangeTheTargetHasToArriveAgain(t *testing.T) {
	for name, change := range map[string]func(*scenario){
		"a boundary":         func(s *scenario) { s.obs.target = deployment(10, 13) },
		"drift is corrected": func(s *scenario) { s.obs.target = deployment(15, 13) },
		"an edit": func(s *scenario) {
			s.obs.target = deployment(10, 13)
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(12) })
		},
		"another target": func(s *scenario) {
			s.obs.target = deployment(10, 13)
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.TargetRef.Name = "other" })
		},
		"it was created again": func(s *scenario) {
			s.obs.target = &target.Replicated{Common: target.Common{UID: "d-2", ResourceVersion: "9", Spec: 10, Observed: 3}}
		},
		"it comes back": func(s *scenario) {
			s.obs.target = nil
			s.pass(inTheHours)
			s.obs.target = deployment(10, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			s.pass(inTheHours)
			change(s)
			at := "2025-01-27 15:00:00"
			if name == "a boundary" {
				at = "2025-01-27 17:00:00"
			}
			s.pass(at)
			s.expectCondition("Ready", "False/TargetMismatch")
			if c := meta.FindStatusCondition(s.tws.Status.Conditions, "Reconciling"); c.Status != "True" {
				t.Errorf("Reconciling is %s/%s", c.Status, c.Reason)
			}
		})
	}
}

// What is a target's own business differs by kind: a Workspace that is not ready does not do what the schedule asks.
func TestRolloutsByKind(t *testing.T) {
	common := target.Common{UID: "t-1", ResourceVersion: "1", Spec: 10, Observed: 13}
	s := newScenario(t, 10)
	s.pass(inTheHours)
	s.obs.target = &target.Scalable{Replicated: target.Replicated{Common: common}}
	s.last.outcome.target, s.last.outcome.scaled, s.last.tws = s.obs.target, false, s.tws
	if !s.last.aligned() {
		t.Error("the rollout of a kind of which only the scale is known is a transition")
	}
	s.last.outcome.target = &target.Workspace{Common: common, State: "RUNNING"}
	if s.last.aligned() {
		t.Error("a Workspace that is not ready counts as arrived")
	}
	s.last.outcome.target = &target.DaemonSet{Common: common}
	if s.last.aligned() {
		t.Error("a DaemonSet whose spec is not as desired counts as arrived")
	}
}
