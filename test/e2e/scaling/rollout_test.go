package scaling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B4: a rollout of the application by its own controller, with more pods or fewer than the schedule asks for,
// changes no condition, and the schedule writes nothing. Its own change is still a transition.
func TestARolloutChangesNoCondition(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	s.officeHours()
	s.settles(10)
	seen := s.record()
	before := conditionsOf(s.scaler())
	s.rollsOut(intstr.FromInt32(3), intstr.FromInt32(0))
	s.Until("the rollout in Ready's message", func() bool {
		return slices.ContainsFunc(seen(), func(tws *v1beta1.TimeWindowScaler) bool {
			return strings.Contains(conditionMessage(tws, v1beta1.ConditionReady), "its own controller is replacing pods")
		})
	})
	s.settles(10)
	s.rollsOut(intstr.FromInt32(0), intstr.FromInt32(5))
	s.settles(10)
	for _, tws := range seen() {
		if diff := cmp.Diff(before, conditionsOf(tws)); diff != "" {
			t.Errorf("with %d pods (-before +now)\n%s", ptr.Deref(tws.Status.TargetObservedReplicas, -1), diff)
		}
	}
	s.equal("scale events", len(s.notes("ScaledUp"))+len(s.notes("ScaledDown")), 0)

	s.clock("2025-01-27 17:00:00")
	s.settles(2)
	s.Until("the change at the boundary in the conditions", func() bool {
		return slices.ContainsFunc(seen(), func(tws *v1beta1.TimeWindowScaler) bool { return !slices.Equal(before, conditionsOf(tws)) })
	})
}

// rollsOut changes the target's pods and waits until its controller has replaced them all.
func (s *scenario) rollsOut(surge, unavailable intstr.IntOrString) {
	s.Helper()
	before := s.deployment()
	after := before.DeepCopy()
	after.Spec.Strategy = appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}
	after.Spec.Template.Annotations = map[string]string{"release": before.ResourceVersion}
	s.Must(admin.Patch(s.Context(), after, client.MergeFrom(before)))
	s.Until("the rollout", func() bool {
		d := s.deployment()
		return d.Status.ObservedGeneration >= after.Generation && d.Status.UpdatedReplicas == 10 && d.Status.Replicas == 10
	})
}

// record watches the scaler; the function returns all versions of it so far.
func (s *scenario) record() (seen func() []*v1beta1.TimeWindowScaler) {
	s.Helper()
	watching, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: admin.Scheme()})
	s.Must(err)
	watch, err := watching.Watch(s.Context(), &v1beta1.TimeWindowScalerList{}, client.InNamespace(s.namespace))
	s.Must(err)
	s.Cleanup(watch.Stop)
	var versions []*v1beta1.TimeWindowScaler
	return func() []*v1beta1.TimeWindowScaler {
		for {
			select {
			case event := <-watch.ResultChan():
				if tws, ok := event.Object.(*v1beta1.TimeWindowScaler); ok {
					versions = append(versions, tws)
				}
			default:
				return versions
			}
		}
	}
}

// conditionsOf are the conditions without their messages.
func conditionsOf(tws *v1beta1.TimeWindowScaler) (all []string) {
	for _, c := range tws.Status.Conditions {
		all = append(all, fmt.Sprintf("%s %s/%s since %s", c.Type, c.Status, c.Reason, c.LastTransitionTime.UTC()))
	}
	return all
}

func conditionMessage(tws *v1beta1.TimeWindowScaler, kind string) string {
	for _, c := range tws.Status.Conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return ""
}
