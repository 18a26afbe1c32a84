package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

const (
	// lowerCase is a time for the API server, but not for Go.
	lowerCase = "2026-01-01t00:00:00z"
	// aboveInt32 is a number for API servers before Kubernetes 1.36, which enforce bounds but not formats.
	aboveInt32 = 3000000000
)

// withoutWebhooks keeps the shared manager away until the test ends: its webhooks refuse what they cannot decode.
func withoutWebhooks(t *testing.T) {
	t.Helper()
	harness.Must(t, manager.Stop())
	t.Cleanup(func() {
		var err error
		manager, err = startManager(context.Background())
		harness.Must(t, err)
	})
}

// laxer takes the bounds of gracePeriodSeconds out of the definition until the test ends: objects may have been stored
// before there were any.
func laxer(t *testing.T) {
	t.Helper()
	crds := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	crd, err := crds.Get(t.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
	harness.Must(t, err)
	var loosen, restore []string
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for i, version := range versions {
		path := fmt.Sprintf("/spec/versions/%d/schema/openAPIV3Schema/properties/spec/properties/gracePeriodSeconds", i)
		strict, _, _ := unstructured.NestedMap(version.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", "gracePeriodSeconds")
		loosen = append(loosen, fmt.Sprintf(`{"op":"replace","path":%q,"value":{"type":"integer","default":0}}`, path))
		restore = append(restore, fmt.Sprintf(`{"op":"replace","path":%q,"value":%s}`, path, harness.Show(strict)))
	}
	change := func(patches []string) {
		_, err := crds.Patch(context.Background(), crd.GetName(), types.JSONPatchType, []byte("["+strings.Join(patches, ",")+"]"), metav1.PatchOptions{})
		harness.Must(t, err)
	}
	change(loosen)
	probe := parse(t, rich)
	spec(probe)["gracePeriodSeconds"] = int64(aboveInt32)
	accepted := func() bool {
		_, err := in("v1beta1", "default").Create(context.Background(), probe.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil
	}
	harness.Until(t, "the bounds gone", accepted)
	t.Cleanup(func() {
		change(restore)
		harness.Until(t, "the bounds back", func() bool { return !accepted() })
	})
}

// named is rich, for a target of its own.
func named(t *testing.T, name string, graceSeconds int64) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, rich)
	object.SetName(name)
	spec(object)["targetRef"].(map[string]any)["name"] = name
	spec(object)["gracePeriodSeconds"] = graceSeconds
	return object
}

// spoilt creates an object and gives it a status that Go cannot decode.
func spoilt(t *testing.T, of dynamic.ResourceInterface, object *unstructured.Unstructured, status string) {
	t.Helper()
	_, err := of.Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	_, err = of.Patch(t.Context(), object.GetName(), types.MergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	harness.Must(t, err)
}

func condition(object *unstructured.Unstructured, kind string) map[string]any {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range all {
		if c := c.(map[string]any); c["type"] == kind {
			return c
		}
	}
	return nil
}

// An object that Go cannot decode costs that object alone: the manager starts, and goes on with all others, whether the
// object was there before it or comes later. The object's status or its events say what is wrong.
func TestUndecodableObjects(t *testing.T) {
	withoutWebhooks(t)
	laxer(t)
	ns := newNamespace(t)
	scalers, workspaces := in("v1beta1", ns), objects.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: "v1alpha1", Resource: "workspaces"}).Namespace(ns)
	workspace := func(name string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: "+name+"}, spec: {image: busybox, desiredState: PENDING}}")
	}
	_, err := scalers.Create(t.Context(), named(t, "bad-spec", aboveInt32), metav1.CreateOptions{})
	harness.Must(t, err)
	spoilt(t, scalers, named(t, "bad-status", 0), `{"gracePeriodExpiry":"`+lowerCase+`"}`)
	spoilt(t, workspaces, workspace("bad"), `{"phase":"PENDING","operation":{"type":"NONE","startedAt":"`+lowerCase+`"}}`)

	s := harness.NewT(t, cluster)
	m := s.StartManager(harness.ManagerOptions{Args: []string{"--leader-elect=false", "--log-format=text", "--webhooks=false", "--namespaces=" + ns}, Log: &managerLog})
	s.AwaitReady(m)
	goesOn := func(name string) {
		t.Helper()
		harness.Must(t, admin.Create(t.Context(), harness.NewDeployment(ns, name, 1)))
		_, err = scalers.Create(t.Context(), named(t, name, 0), metav1.CreateOptions{})
		harness.Must(t, err)
		_, err = workspaces.Create(t.Context(), workspace(name), metav1.CreateOptions{})
		harness.Must(t, err)
		s.Until(name+" being scaled, and a Workspace served", func() bool {
			served, err := workspaces.Get(t.Context(), name, metav1.GetOptions{})
			harness.Must(t, err)
			phase, _, _ := unstructured.NestedString(served.Object, "status", "phase")
			return condition(get(t, "v1beta1", ns, name), "Ready")["status"] == "True" && phase == "PENDING"
		})
	}
	goesOn("neighbour")
	s.Until("the status of bad-spec", func() bool {
		degraded := condition(get(t, "v1beta1", ns, "bad-spec"), "Degraded")
		return degraded["reason"] == "InvalidConfiguration" && strings.Contains(fmt.Sprint(degraded["message"]), "gracePeriodSeconds")
	})
	s.Until("a new status of bad-status", func() bool {
		object := get(t, "v1beta1", ns, "bad-status")
		_, bad, _ := unstructured.NestedString(object.Object, "status", "gracePeriodExpiry")
		return condition(object, "Ready")["reason"] == "TargetNotFound" && !bad
	})
	s.Until("an event about the Workspace", func() bool {
		var list eventsv1.EventList
		harness.Must(t, admin.List(t.Context(), &list, client.InNamespace(ns)))
		for _, event := range list.Items {
			if event.Reason == "Undecodable" && event.Regarding.Name == "bad" && strings.Contains(event.Note, lowerCase) {
				return true
			}
		}
		return false
	})

	_, err = scalers.Create(t.Context(), named(t, "bad-later", aboveInt32), metav1.CreateOptions{})
	harness.Must(t, err)
	spoilt(t, workspaces, workspace("bad-later"), `{"operation":{"type":"NONE","startedAt":"`+lowerCase+`"}}`)
	s.Until("the metric of those that are left", func() bool { return s.Sum(m, "kyklos_undecodable_object") == 4 })
	goesOn("neighbour-later")

	patch(t, "v1beta1", ns, "bad-spec", types.MergePatchType, `{"spec":{"gracePeriodSeconds":60}}`)
	harness.Must(t, workspaces.Delete(t.Context(), "bad", metav1.DeleteOptions{}))
	s.Until("the mended one's status, and the metric", func() bool {
		return condition(get(t, "v1beta1", ns, "bad-spec"), "Degraded")["status"] == "False" && s.Sum(m, "kyklos_undecodable_object") == 2
	})
}
