package manager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

const suspendKey, policyAnnotation = "kyklos.io/suspended", "kyklos.io/deletion-policy"

// createSuspended creates a DaemonSet and a schedule that always suspends it.
func (s *scenario) createSuspended(name string, policy v1beta1.DeletionPolicy) {
	s.Helper()
	d := &appsv1.DaemonSet{ObjectMeta: s.Named(name)}
	labels := map[string]string{"app": name}
	d.Spec.Selector, d.Spec.Template = &metav1.LabelSelector{MatchLabels: labels}, harness.NewPodTemplate(labels)
	s.Must(s.Client.Create(s.Context(), d))
	s.Must(s.Client.Create(s.Context(), &v1beta1.TimeWindowScaler{ObjectMeta: s.Named(name), Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{Kind: "DaemonSet", Name: name}, Timezone: "UTC", DeletionPolicy: policy,
		Windows: []v1beta1.Window{{Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(0)}},
	}}))
	s.awaitDaemonSet(name, true, string(policy))
	s.Eventually("the status of "+name, func() error {
		tws := &v1beta1.TimeWindowScaler{}
		s.Get(s.Namespace, name, tws)
		if tws.Status.EffectiveReplicas == nil {
			return errors.New("no status")
		}
		return nil
	})
}

func (s *scenario) awaitDaemonSet(name string, suspended bool, policy string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("DaemonSet %s, suspended %t", name, suspended), func() error {
		d := &appsv1.DaemonSet{}
		s.Get(s.Namespace, name, d)
		if _, is := d.Spec.Template.Spec.NodeSelector[suspendKey]; is != suspended || d.Annotations[policyAnnotation] != policy {
			return fmt.Errorf("got %v %v", d.Spec.Template.Spec.NodeSelector, d.Annotations)
		}
		return nil
	})
}

// deleteScaler returns the warnings.
func (s *scenario) deleteScaler(name string) (warnings string) {
	s.Helper()
	_, warnings = s.Kubectl("", "delete", "tws", name, "-n", s.Namespace)
	return warnings
}

// A DaemonSet that is suspended when its schedule is deleted stays so, with a warning at the deletion and an event. With the policy
// Resume it runs again, even if no manager ran when the schedule was deleted.
func TestDaemonSetOfADeletedSchedule(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	first := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(first)
	s.createSuspended("left", "")
	s.createSuspended("resumed", v1beta1.DeletionResume)
	s.CreatePair("idle", 0, "09:00", "17:00")
	s.AwaitSettled(3, 0)
	if got := s.deleteScaler("left"); !strings.Contains(got, "DaemonSet left stays suspended: nothing resumes it, unless spec.deletionPolicy is Resume") {
		t.Errorf("got the warnings %q", got)
	}
	if got := s.deleteScaler("idle"); !strings.Contains(got, "Deployment idle stays at 0 replicas") {
		t.Errorf("got the warnings %q", got)
	}
	s.Must(first.Kill())
	if got := s.deleteScaler("resumed"); strings.Contains(got, "Warning") {
		t.Errorf("got the warnings %q, want none", got)
	}

	second := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(second)
	s.awaitDaemonSet("resumed", false, "")
	s.Eventually("the event", func() error {
		var list eventsv1.EventList
		s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
		for _, e := range list.Items {
			if e.Reason == "LeftSuspended" && e.Regarding.Kind == "DaemonSet" && e.Regarding.Name == "left" {
				return nil
			}
		}
		return fmt.Errorf("%d events, none of them LeftSuspended", len(list.Items))
	})
	s.awaitDaemonSet("left", true, "")
	s.Must(second.Stop())
}
