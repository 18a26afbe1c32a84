package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"kyklos.io/kyklos/test/harness"
)

// A Workspace accepts the amounts that a Pod accepts, as numbers and as text, and refuses what a Pod refuses.
func TestAmountsAsInAPod(t *testing.T) {
	ns := newNamespace(t)
	for _, amounts := range []string{
		"{cpu: 0.5}", "{cpu: 2}", "{cpu: 0.001}", `{cpu: "0.5"}`, "{cpu: 1.5, memory: 1Gi}", "{memory: 1e+9}",
		"{cpu: true}", "{cpu: [1]}", "{cpu: -0.5}", `{cpu: "a half"}`, "{example.com/gpu: 1}", "{example.com/gpu: 0.5}", "{example.com/gpu: 500m}",
	} {
		resources := "{requests: " + amounts + ", limits: " + amounts + "}"
		podErr := dryRun(t, ns, "pods", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a, resources: "+resources+"}]}}")
		err := dryRun(t, ns, "workspaces", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: a}, spec: {image: a, resources: "+resources+"}}")
		if (err == nil) != (podErr == nil) {
			t.Errorf("%s: a Pod: %v; a Workspace: %v", amounts, podErr, err)
		}
	}
}

// A fraction is stored as text with the same digits.
func TestAFractionIsStoredAsText(t *testing.T) {
	ns := newNamespace(t)
	created, err := resourcesOf(ns, "workspaces").Create(t.Context(),
		parse(t, "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: a}, spec: {image: a, resources: {requests: {cpu: 0.5}, limits: {cpu: 2}}}}"), metav1.CreateOptions{})
	harness.Must(t, err)
	request, _, _ := unstructured.NestedFieldNoCopy(created.Object, "spec", "resources", "requests", "cpu")
	limit, _, _ := unstructured.NestedFieldNoCopy(created.Object, "spec", "resources", "limits", "cpu")
	if request != "0.5" || limit != int64(2) {
		t.Errorf("got %v of %v", request, limit)
	}
}

func dryRun(t *testing.T, namespace, resource, text string) error {
	t.Helper()
	_, err := resourcesOf(namespace, resource).Create(t.Context(), parse(t, text), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func resourcesOf(namespace, resource string) dynamic.ResourceInterface {
	kind := schema.GroupVersionResource{Version: "v1", Resource: resource}
	if resource == "workspaces" {
		kind.Group, kind.Version = "kyklos.io", "v1alpha1"
	}
	return objects.Resource(kind).Namespace(namespace)
}
