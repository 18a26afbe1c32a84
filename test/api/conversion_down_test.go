package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// definition is the CustomResourceDefinition.
func definition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	object, err := objects.Resource(resource).Get(t.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
	harness.Must(t, err)
	return object
}

func conversionConfig(t *testing.T, part string) string {
	t.Helper()
	text, _, err := unstructured.NestedString(definition(t).Object, "spec", "conversion", "webhook", "clientConfig", part)
	harness.Must(t, err)
	return text
}

// Applying the manifests again, as an upgrade or a GitOps tool does, keeps the CA that the manager wrote into the
// definition, and v1alpha1 stays available.
func TestApplyingTheDefinitionKeepsTheCA(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, plain)
	before := conversionConfig(t, "caBundle")
	harness.Must(t, cluster.Install(t.Context(), webhookPort))
	if after := conversionConfig(t, "caBundle"); before == "" || after != before {
		t.Errorf("got another CA: before %q, after %q", before, after)
	}
	patch(t, "v1alpha1", ns, "plain", types.MergePatchType, `{"spec":{"defaultReplicas":2}}`)
}

// unreachable points the conversion webhook at a closed port until the test ends. It waits until the API server has
// noticed.
func unreachable(t *testing.T, namespace string) {
	t.Helper()
	redirect := func(port int) error {
		text := fmt.Sprintf(`{"spec":{"conversion":{"webhook":{"clientConfig":{"service":{"port":%d}}}}}}`, port)
		_, err := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
			Patch(context.Background(), "timewindowscalers.kyklos.io", types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}
	converts := func() bool {
		_, err := in("v1alpha1", namespace).Patch(context.Background(), "canary", types.MergePatchType, []byte(`{"spec":{"defaultReplicas":2}}`), metav1.PatchOptions{})
		if err != nil && !strings.Contains(err.Error(), "conversion webhook for") {
			t.Logf("v1alpha1: %v", err)
		}
		return err == nil
	}
	harness.Must(t, redirect(1))
	t.Cleanup(func() {
		harness.Must(t, redirect(webhookPort))
		for !converts() && context.Background().Err() == nil && !t.Failed() {
			continue
		}
	})
	harness.Until(t, "the conversion webhook fail", func() bool { return !converts() })
}

// Without the conversion webhook the controller keeps working, and so does every client of v1beta1: reads and writes,
// garbage collection, and the deletion of a namespace with a hundred objects.
func TestConversionDown(t *testing.T) {
	ns, crowded, canary := controlled, newNamespace(t), newNamespace(t)
	harness.Must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))
	object := parse(t, plain)
	object.SetName("canary")
	_, err := in("v1alpha1", canary).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	for i := range 100 {
		object := parse(t, rich)
		object.SetName(fmt.Sprintf("scaler-%d", i))
		spec(object)["targetRef"].(map[string]any)["name"] = object.GetName()
		_, err := in("v1beta1", crowded).Create(t.Context(), object, metav1.CreateOptions{})
		harness.Must(t, err)
	}
	deployment := harness.NewDeployment(ns, "always", 1)
	harness.Must(t, admin.Create(t.Context(), deployment))
	always := parse(t, plain) // its field manager used v1alpha1, so each write converts its fields
	always.SetName("always")
	always.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "always", UID: deployment.UID}})
	spec(always)["targetRef"].(map[string]any)["name"] = "always"
	_, err = in("v1alpha1", ns).Create(t.Context(), always, metav1.CreateOptions{})
	harness.Must(t, err)
	unreachable(t, canary)

	for _, count := range []int32{3, 7} { // the same inside and outside of the window
		patch(t, "v1beta1", ns, "always", types.MergePatchType, fmt.Sprintf(
			`{"spec":{"baselineReplicas":10,"defaultReplicas":"%d0%%","windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":"%d0%%"}]}}`, count, count))
		harness.Until(t, fmt.Sprintf("%d replicas of the Deployment and in the status", count), func() bool {
			harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
			effective, _, _ := unstructured.NestedInt64(get(t, "v1beta1", ns, "always").Object, "status", "effectiveReplicas")
			return ptr.Deref(deployment.Spec.Replicas, 0) == count && effective == int64(count)
		})
	}

	harness.Must(t, admin.Delete(t.Context(), deployment))
	harness.Until(t, "the scaler collected with its owner", func() bool {
		_, err := in("v1beta1", ns).Get(t.Context(), "always", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	harness.Must(t, admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crowded}}))
	harness.Until(t, "the namespace gone", func() bool {
		return apierrors.IsNotFound(admin.Get(t.Context(), client.ObjectKey{Name: crowded}, &corev1.Namespace{}))
	})
}
