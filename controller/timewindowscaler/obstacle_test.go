package timewindowscaler

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

// agent is a DaemonSet that should run on three nodes.
func agent(running int32) target.Target {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{UID: "d-1", ResourceVersion: "1"}}
	d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled = 3, running
	return target.KindOf(v1beta1.TargetRef{Kind: "DaemonSet"}).(target.Cached).FromObject(d)
}

// Messages about a DaemonSet have no replicas.
func TestADaemonSetsDay(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Spec.TargetRef.Kind, s.tws.Spec.DefaultReplicas = "DaemonSet", intstr.FromInt32(0)
	s.tws.Spec.GracePeriodSeconds = 60
	s.obs.target = agent(1)
	s.pass("2025-01-27 13:59:00")
	s.expectCondition("Ready", "False/TargetMismatch")
	s.obs.target = agent(3)
	s.pass("2025-01-27 14:00:00")
	s.expectCondition("Ready", "True/Reconciled")
	s.obs.target = agent(1)
	s.pass("2025-01-27 14:01:00")
	s.expectCondition("Ready", "True/Reconciled")
	s.obs.target = agent(1)
	s.pass("2025-01-27 17:00:00")
	s.expectEvents("GracePeriodStarted")
	s.obs.target = agent(1)
	s.tws.Spec.Pause = true
	s.pass("2025-01-27 17:01:00")
	s.expectEvents("ScalingSkipped")
	s.expectCondition("Ready", "False/TargetMismatch")
}

// An obstacle is reported with its remedy, and nothing is written.
func TestObstacles(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rollout"}
	forbidden := &targetkind.ForbiddenError{Kind: targetkind.Kind{GroupVersionKind: gvk, Resource: "rollouts"}}
	unknown := &targetkind.UnknownError{Kind: gvk}
	unscalable := &targetkind.NotScalableError{Kind: gvk}
	for name, tc := range map[string]struct {
		obstacle        error
		ready, degraded string
		event           string
	}{
		"unknown":    {unknown, "False/TargetNotFound", normal, "MissingTarget"},
		"forbidden":  {forbidden, "False/TargetForbidden", "True/TargetForbidden", "TargetForbidden"},
		"unscalable": {unscalable, "False/InvalidConfiguration", "True/InvalidConfiguration", "InvalidSchedule"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "example.com/v1", Kind: "Rollout", Name: "webapp"}
			s.obs.target, s.obs.obstacle = nil, tc.obstacle
			if s.pass(inTheHours).plan.Write {
				t.Error("written")
			}
			s.expectCondition("Ready", tc.ready)
			s.expectCondition("Degraded", tc.degraded)
			s.expectEvents(tc.event)
		})
	}
}
