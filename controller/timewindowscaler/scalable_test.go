package timewindowscaler

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/internal/targetkind"
)

var rollouts = targetkind.Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}, Resource: "rollouts",
}

// listed is a cache of metadata with one object, whose version is what it points to.
type listed struct {
	client.Reader
	version *string
}

func (l listed) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.SetUID("r-1")
	obj.SetResourceVersion(*l.version)
	return nil
}

// The scale is read once for each version of the object, be the versions numbers or not: an API server
// behind the aggregator may have others.
func TestTheScaleIsReadOncePerVersion(t *testing.T) {
	version, reads := "", 0
	scales := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	scales.PrependReactor("get", "rollouts", func(clienttesting.Action) (bool, runtime.Object, error) {
		reads++
		return true, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "autoscaling/v1", "kind": "Scale",
			"metadata": map[string]any{"uid": "r-1", "resourceVersion": version},
			"spec":     map[string]any{"replicas": int64(reads)},
		}}, nil
	})
	watches := &kindWatches{kinds: map[schema.GroupVersionKind]*kindWatch{
		rollouts.GroupVersionKind: {kind: rollouts, stop: func() {}, reader: listed{version: &version}},
	}}
	w, mem := scalables{&Reconciler{Dynamic: scales, Clock: testingclock.NewFakePassiveClock(ist(inTheHours)), watches: watches}, rollouts}, &recollection{}
	for _, step := range []struct {
		version string
		reads   int
	}{{"9", 1}, {"9", 1}, {"10", 2}, {"10", 2}, {"a", 3}, {"a", 3}, {"b", 4}, {"b", 4}} {
		version = step.version
		got, err := w.read(t.Context(), types.NamespacedName{Namespace: "production", Name: "webapp"}, mem)
		if err != nil || reads != step.reads || got.specReplicas != int32(step.reads) {
			t.Fatalf("version %s: %d reads, %+v, %v; want %d reads", step.version, reads, got, err, step.reads)
		}
	}
}

// A Scale does not tell how many pods are ready, so after a write it is what was seen before.
func TestReadyPodsAfterAWrite(t *testing.T) {
	answers := interceptor.Funcs{SubResourcePatch: func(_ context.Context, _ client.Client, subresource string, _ client.Object, _ client.Patch, opts ...client.SubResourcePatchOption) error {
		options := &client.SubResourcePatchOptions{}
		options.ApplyOptions(opts)
		*options.SubResourceBody.(*autoscalingv1.Scale) = autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{ResourceVersion: "2"},
			Spec:       autoscalingv1.ScaleSpec{Replicas: 10},
			Status:     autoscalingv1.ScaleStatus{Replicas: 4},
		}
		return nil
	}}
	r := &Reconciler{Client: clientfake.NewClientBuilder().WithInterceptorFuncs(answers).Build()}
	seen := deployment(4, 4)
	seen.readyReplicas = 3
	got, err := replicated{r, &appsv1.Deployment{}}.write(t.Context(), types.NamespacedName{Namespace: "production", Name: "webapp"}, seen, 10)
	want := target{uid: "d-1", resourceVersion: "2", specReplicas: 10, observedReplicas: 4, readyReplicas: 3}
	if err != nil || *got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
