package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/conversion"
)

// withoutValidation takes the validating webhooks out of service until the test ends, as an editor of their configuration
// can.
func withoutValidation(t *testing.T, namespace string) {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-webhook"}}
	harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(configuration), configuration))
	probe := forged(t, namespace, forgeries()["a Workspace's field"])
	refused := func() bool {
		_, err := in("v1alpha1", namespace).Create(context.Background(), probe.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	}
	harness.Must(t, admin.Delete(t.Context(), configuration.DeepCopy()))
	t.Cleanup(func() {
		configuration.UID, configuration.ResourceVersion = "", ""
		harness.Must(t, admin.Create(context.Background(), configuration))
		harness.Until(t, "validation again", refused)
	})
	harness.Until(t, "no validation", func() bool { return !refused() })
}

// Without the validating webhooks v1alpha1 can write what v1beta1 refuses, and change what v1alpha1 does not show.
func TestStoredForgeries(t *testing.T) {
	ns := newNamespace(t)
	withoutValidation(t, ns)
	s := harness.NewT(t, cluster)
	m := s.StartManager(harness.ManagerOptions{Args: []string{"--leader-elect=false", "--log-format=text", "--webhooks=false", "--namespaces=" + ns}, Log: &managerLog})
	s.AwaitReady(m)
	t.Run("are reported", func(t *testing.T) { forgeriesAreReported(t, s, m, ns) })
	t.Run("reach the DaemonSet", func(t *testing.T) { aHiddenEditReachesTheDaemonSet(t, s, ns) })
}

// The controller judges a spec by the same schema as the webhooks: it says what is invalid, and leaves the target alone (A3,
// B5).
func forgeriesAreReported(t *testing.T, s *harness.T, m *harness.Manager, ns string) {
	harness.Must(t, admin.Create(t.Context(), harness.NewDeployment(ns, "plain", 3)))
	names := map[string]string{}
	for what, payload := range forgeries() {
		if what == "the zone Local" {
			continue // the schedule does without an unknown zone
		}
		object := forged(t, ns, payload)
		object.SetName(fmt.Sprintf("forged-%d", len(names)))
		_, err := in("v1alpha1", ns).Create(t.Context(), object, metav1.CreateOptions{})
		harness.Must(t, err)
		names[what] = object.GetName()
	}
	for what, name := range names {
		var degraded map[string]any
		s.Until(what+" being reported", func() bool {
			degraded = condition(get(t, "v1beta1", ns, name), "Degraded")
			return degraded != nil
		})
		reason, message := degraded["reason"], fmt.Sprint(degraded["message"])
		if degraded["status"] != "True" || reason != "InvalidConfiguration" || !strings.Contains(message, "spec.") {
			t.Errorf("%s: got %v", what, degraded)
		}
		if ready := condition(get(t, "v1beta1", ns, name), "Ready"); ready["status"] != "False" || ready["reason"] != "InvalidConfiguration" {
			t.Errorf("%s: got %v", what, ready)
		}
	}
	if failures := s.Sum(m, "kyklos_scale_failures_total"); failures != 0 {
		t.Errorf("%v requests failed", failures)
	}

	deployment := harness.NewDeployment(ns, "plain", 0)
	harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	if *deployment.Spec.Replicas != 3 || deployment.Generation != 1 {
		t.Errorf("the target was written: %d replicas, generation %d", *deployment.Spec.Replicas, deployment.Generation)
	}

	mended := names["a name of 200 characters"]
	patch(t, "v1beta1", ns, mended, types.MergePatchType, `{"spec":{"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":5}]}}`)
	s.Until("the mended one's status", func() bool {
		return condition(get(t, "v1beta1", ns, mended), "Degraded")["reason"] != "InvalidConfiguration"
	})
}

// A policy that is changed by a write in v1alpha1, which moves no generation, reaches the DaemonSet.
func aHiddenEditReachesTheDaemonSet(t *testing.T, s *harness.T, ns string) {
	labels := map[string]string{"app": "agent"}
	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "agent"}}
	agent.Spec.Selector, agent.Spec.Template = &metav1.LabelSelector{MatchLabels: labels}, harness.NewPodTemplate(labels)
	harness.Must(t, admin.Create(t.Context(), agent))
	object := parse(t, plain)
	object.SetAPIVersion("kyklos.io/v1beta1")
	object.SetName("agent")
	spec(object)["targetRef"] = map[string]any{"kind": "DaemonSet", "name": "agent"}
	before, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	s.Until("the first pass", func() bool { return condition(get(t, "v1beta1", ns, "agent"), "Ready") != nil })

	hidden := spec(before)
	hidden["deletionPolicy"] = "Resume"
	patch(t, "v1alpha1", ns, "agent", types.MergePatchType, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, conversion.Annotation, `{"spec":`+harness.Show(hidden)+`}`))
	after := get(t, "v1beta1", ns, "agent")
	if spec(after)["deletionPolicy"] != "Resume" || after.GetGeneration() != before.GetGeneration() {
		t.Fatalf("generation %d, was %d: %v", after.GetGeneration(), before.GetGeneration(), spec(after))
	}
	s.Until("the DaemonSet's annotation", func() bool {
		harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(agent), agent))
		return agent.Annotations["kyklos.io/deletion-policy"] == "Resume"
	})
}
