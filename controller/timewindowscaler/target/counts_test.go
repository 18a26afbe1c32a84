package target

import (
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What is read from the cache is the same target as what the API server answered, and so is what an event brings.
func TestCountsAreEnough(t *testing.T) {
	identity := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7", DeletionTimestamp: ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))}
	for name, tc := range map[string]struct {
		kind   Cached
		object client.Object
	}{
		"a Deployment":  {deployments{}, &appsv1.Deployment{ObjectMeta: identity, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)}, Status: appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 1}}},
		"a StatefulSet": {statefulSets{}, &appsv1.StatefulSet{ObjectMeta: identity, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](0)}, Status: appsv1.StatefulSetStatus{Replicas: 2, ReadyReplicas: 2}}},
		"no count":      {deployments{}, &appsv1.Deployment{ObjectMeta: identity}},
	} {
		want := tc.kind.FromObject(tc.object)
		kept, err := tc.kind.Strip(tc.object)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tc.kind.FromObject(kept.(client.Object))); diff != "" {
			t.Errorf("%s in an event: (-want +got)\n%s", name, diff)
		}
		read := tc.kind.Object()
		kept.(*Counts).Expand(read)
		if diff := cmp.Diff(want, tc.kind.FromObject(read)); diff != "" || read.GetName() != "web" || read.GetDeletionTimestamp() == nil {
			t.Errorf("%s when it is read: %v (-want +got)\n%s", name, read, diff)
		}
		read.GetDeletionTimestamp().Time = time.Time{}
		if kept.(*Counts).DeletionTimestamp.IsZero() {
			t.Errorf("%s: a reader can change the cache", name)
		}
	}
	if size := unsafe.Sizeof(Counts{}); size > 256 {
		t.Errorf("Counts take %d bytes, want at most 256", size)
	}
}
