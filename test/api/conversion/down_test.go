package conversion

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definition is the CustomResourceDefinition.
func definition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	object, err := objects.Resource(resource).Get(t.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
	must(t, err)
	return object
}

func conversionConfig(t *testing.T, part string) string {
	t.Helper()
	text, _, err := unstructured.NestedString(definition(t).Object, "spec", "conversion", "webhook", "clientConfig", part)
	must(t, err)
	return text
}

// Applying the manifests again, as an upgrade or a GitOps tool does, leaves the CA that the manager put
// into the definition, and v1alpha1 is served all the time.
func TestApplyingTheDefinitionKeepsTheCA(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, plain)
	before := conversionConfig(t, "caBundle")
	must(t, cluster.Install(t.Context(), webhookPort))
	if after := conversionConfig(t, "caBundle"); before == "" || after != before {
		t.Errorf("the CA was %q, now it is %q", before, after)
	}
	patch(t, "v1alpha1", ns, "plain", types.MergePatchType, `{"spec":{"defaultReplicas":2}}`)
}

// unreachable points conversion at a port that nobody listens on, until the test ends. The API server
// takes some moments to notice.
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
	must(t, redirect(1))
	t.Cleanup(func() {
		must(t, redirect(webhookPort))
		for !converts() && context.Background().Err() == nil && !t.Failed() {
			continue
		}
	})
	eventually(t, "conversion out of order", func() bool { return !converts() })
}

// With conversion out of order the controller goes on, and so does all that speaks v1beta1: reads and
// writes, garbage collection, and the deletion of a namespace with a hundred objects.
func TestConversionDown(t *testing.T) {
	ns, crowded, canary := controlled, newNamespace(t), newNamespace(t)
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}))
	object := parse(t, plain)
	object.SetName("canary")
	_, err := in("v1alpha1", canary).Create(t.Context(), object, metav1.CreateOptions{})
	must(t, err)
	for i := range 100 {
		object := parse(t, rich)
		object.SetName(fmt.Sprintf("scaler-%d", i))
		spec(object)["targetRef"].(map[string]any)["name"] = object.GetName()
		_, err := in("v1beta1", crowded).Create(t.Context(), object, metav1.CreateOptions{})
		must(t, err)
	}
	deployment := deploy(t, ns, "always")
	always := parse(t, plain) // its manager is one of v1alpha1: each write wants its fields converted
	always.SetName("always")
	always.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "always", UID: deployment.UID}})
	spec(always)["targetRef"].(map[string]any)["name"] = "always"
	_, err = in("v1alpha1", ns).Create(t.Context(), always, metav1.CreateOptions{})
	must(t, err)
	unreachable(t, canary)

	for _, count := range []int32{3, 7} { // whether the window covers now or not
		patch(t, "v1beta1", ns, "always", types.MergePatchType, fmt.Sprintf(
			`{"spec":{"baselineReplicas":10,"defaultReplicas":"%d0%%","windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":"%d0%%"}]}}`, count, count))
		eventually(t, fmt.Sprintf("the Deployment at %d and a status that says so", count), func() bool {
			must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
			effective, _, _ := unstructured.NestedInt64(get(t, "v1beta1", ns, "always").Object, "status", "effectiveReplicas")
			return ptr.Deref(deployment.Spec.Replicas, 0) == count && effective == int64(count)
		})
	}

	must(t, admin.Delete(t.Context(), deployment))
	eventually(t, "the scaler collected with its owner", func() bool {
		_, err := in("v1beta1", ns).Get(t.Context(), "always", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	must(t, admin.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crowded}}))
	eventually(t, "the namespace gone", func() bool {
		return apierrors.IsNotFound(admin.Get(t.Context(), client.ObjectKey{Name: crowded}, &corev1.Namespace{}))
	})
}

func deploy(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
	must(t, admin.Create(t.Context(), deployment))
	return deployment
}
