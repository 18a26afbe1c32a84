package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	storageversion "k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// A manager that starts while objects are still stored as v1alpha1 needs its own conversion webhook to fill its caches. It
// serves the webhook first.
func TestStartsOnObjectsStoredAsV1alpha1(t *testing.T) {
	shared, sharedObjects, sharedPort := cluster, objects, webhookPort
	t.Cleanup(func() { cluster, objects, webhookPort = shared, sharedObjects, sharedPort })
	cluster = harness.StartFor(t, "--etcd-gateway")
	var err error
	webhookPort, err = cluster.InstallOnFreePort(t.Context())
	harness.Must(t, err)
	objects, err = dynamic.NewForConfig(cluster.Config)
	harness.Must(t, err)

	changeDefinition(t, `[{"op":"replace","path":"/spec/versions/0/storage","value":true},{"op":"replace","path":"/spec/versions/1/storage","value":false},
		{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`)
	object := parse(t, plain)
	object.SetAPIVersion("kyklos.io/v1beta1") // without a manager nothing is written in v1alpha1
	harness.Until(t, "an object stored as v1alpha1", func() bool {
		_, err := in("v1beta1", "default").Create(t.Context(), object.DeepCopy(), metav1.CreateOptions{})
		harness.Must(t, err)
		contents, err := cluster.Stored(t.Context(), "kyklos.io/timewindowscalers")
		harness.Must(t, err)
		if contents["default/plain"].Version == "v1alpha1" {
			return true
		}
		harness.Must(t, in("v1beta1", "default").Delete(t.Context(), "plain", metav1.DeleteOptions{}))
		return false
	})
	harness.Must(t, cluster.Install(t.Context(), webhookPort))

	first, err := startManager(t.Context(), "--storage-migration=false")
	harness.Must(t, err)
	t.Cleanup(func() { _ = first.Stop() })
	if beta := get(t, "v1beta1", "default", "plain"); window(beta, 0)["replicas"] != int64(5) {
		t.Errorf("v1beta1: got %v, want 5 replicas in the window", spec(beta))
	}
	t.Run("no room", storedInV1alpha1WithoutRoom)
	withoutDefinitions(t)
	t.Run("no room, and no right to read the definition", storedInV1alpha1WithoutRoom)
}

// withoutDefinitions takes from the manager what it has not in an installation for some namespaces: the right to read the
// definition.
func withoutDefinitions(t *testing.T) {
	t.Helper()
	admin, err := cluster.Client()
	harness.Must(t, err)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-manager"}}
	harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(role), role))
	before := len(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "customresourcedefinitions") })
	if len(role.Rules) == before {
		t.Fatal("the role has no such rule")
	}
	harness.Must(t, admin.Update(t.Context(), role))
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: harness.ManagerUser,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "list", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "timewindowscalers.kyklos.io",
		},
	}}
	harness.Until(t, "the right gone", func() bool {
		asked := review.DeepCopy()
		harness.Must(t, admin.Create(t.Context(), asked))
		return !asked.Status.Allowed
	})
}

func changeDefinition(t *testing.T, patch string) {
	t.Helper()
	_, err := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).
		Patch(t.Context(), "timewindowscalers.kyklos.io", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	harness.Must(t, err)
}

// While v1alpha1 may be stored, an object that has no room there for all of v1beta1 is not written in any version,
// instead of losing it. All reads in v1beta1 go on.
func storedInV1alpha1WithoutRoom(t *testing.T) {
	object := parse(t, rich)
	object.SetAnnotations(map[string]string{"big": strings.Repeat("x", 262_000)})
	before, err := in("v1beta1", "default").Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	changeDefinition(t, `[{"op":"replace","path":"/spec/versions/0/storage","value":true},{"op":"replace","path":"/spec/versions/1/storage","value":false}]`)
	apis, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	harness.Must(t, err)
	harness.Until(t, "v1alpha1 in discovery", func() bool { // a manager that sees nothing else can only know it from there
		found, err := apis.ServerResourcesForGroupVersionWithContext(t.Context(), "kyklos.io/v1alpha1")
		harness.Must(t, err)
		return slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool {
			return r.Name == "timewindowscalers" && r.StorageVersionHash == storageversion.StorageVersionHash("kyklos.io", "v1alpha1", "TimeWindowScaler")
		})
	})
	const want = "this object cannot be stored in kyklos.io/v1alpha1: its other annotations leave no room for kyklos.io/v1beta1-spec"
	harness.Until(t, "a write in v1beta1 refused", func() bool {
		_, err := in("v1beta1", "default").Patch(t.Context(), "rich", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "status")
		return err != nil && strings.Contains(err.Error(), want)
	})
	patch(t, "v1beta1", "default", "plain", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)
	list, err := in("v1beta1", "default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("the list in v1beta1 has %d objects: %v", len(list.Items), err)
	}
	if diff := cmp.Diff(before.Object, get(t, "v1beta1", "default", "rich").Object); diff != "" {
		t.Errorf("the object has changed (-before +after)\n%s", diff)
	}
	changeDefinition(t, `[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
	harness.Until(t, "a smaller annotation", func() bool {
		_, err := in("v1beta1", "default").Patch(t.Context(), "rich", types.MergePatchType, []byte(`{"metadata":{"annotations":{"big":"x"}}}`), metav1.PatchOptions{})
		return err == nil
	})
	if diff := cmp.Diff(spec(before), spec(get(t, "v1beta1", "default", "rich"))); diff != "" {
		t.Errorf("with room again, the spec has changed (-before +after)\n%s", diff)
	}
	harness.Must(t, in("v1beta1", "default").Delete(t.Context(), "rich", metav1.DeleteOptions{}))
}
