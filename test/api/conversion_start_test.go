package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kyklos.io/kyklos/test/harness"
)

// A manager that starts while objects are still stored as v1alpha1 needs its own conversion webhook to fill its caches. It
// serves the webhook first.
func TestStartsOnObjectsStoredAsV1alpha1(t *testing.T) {
	shared, sharedObjects, sharedPort := cluster, objects, webhookPort
	t.Cleanup(func() { cluster, objects, webhookPort = shared, sharedObjects, sharedPort })
	cluster = harness.StartFor(t)
	var err error
	webhookPort, err = cluster.InstallOnFreePort(t.Context())
	harness.Must(t, err)
	objects, err = dynamic.NewForConfig(cluster.Config)
	harness.Must(t, err)

	storage := `[{"op":"replace","path":"/spec/versions/0/storage","value":true},{"op":"replace","path":"/spec/versions/1/storage","value":false},
		{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`
	_, err = objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
		Patch(t.Context(), "timewindowscalers.kyklos.io", types.JSONPatchType, []byte(storage), metav1.PatchOptions{})
	harness.Must(t, err)
	harness.Until(t, "an object stored as v1alpha1", func() bool {
		_, err := in("v1alpha1", "default").Create(t.Context(), parse(t, plain), metav1.CreateOptions{})
		return err == nil
	})
	harness.Must(t, cluster.Install(t.Context(), webhookPort))

	first, err := startManager(t.Context())
	harness.Must(t, err)
	t.Cleanup(func() { _ = first.Stop() })
	if beta := get(t, "v1beta1", "default", "plain"); window(beta, 0)["replicas"] != int64(5) {
		t.Errorf("v1beta1: got %v, want 5 replicas in the window", spec(beta))
	}
}
