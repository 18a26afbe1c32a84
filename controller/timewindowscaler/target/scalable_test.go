package target

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
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

// watched simulates the watches on kinds that are not cached.
type watched struct{ objects client.Reader }

func (w watched) Kind(schema.GroupVersionKind) (targetkind.Kind, bool) { return rollouts, true }
func (w watched) Objects(targetkind.Kind) (client.Reader, error)       { return w.objects, nil }
func (w watched) Trouble(schema.GroupVersionKind) error                { return nil }

func atOnce(ctx context.Context, send func(context.Context) (any, error)) (any, error) {
	return send(ctx)
}

// The scale is read once for each version of the object, even if the versions are not numbers: an API server
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
	c, memory := &Clients{Dynamic: scales, Watches: watched{listed{version: &version}}, Paced: atOnce}, &Memory{}
	for _, step := range []struct {
		version string
		reads   int
	}{{"9", 1}, {"9", 1}, {"10", 2}, {"10", 2}, {"a", 3}, {"a", 3}, {"b", 4}, {"b", 4}} {
		version = step.version
		ref := referenceTo(rollouts.GroupVersionKind)
		ref.Name = "webapp"
		got, err := Read(t.Context(), c, "production", ref, memory, time.Time{})
		if err != nil || reads != step.reads || got.Base().Spec != int32(step.reads) {
			t.Fatalf("version %s: %d reads, %+v, %v; want %d reads", step.version, reads, got, err, step.reads)
		}
	}
}

// A Scale has no ready count, so after a write it is what was seen before.
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
	c := &Clients{Client: clientfake.NewClientBuilder().WithInterceptorFuncs(answers).Build()}
	seen := &Replicated{Common{UID: "d-1", ResourceVersion: "1", Spec: 4, Observed: 4, Ready: 3}}
	got, err := deployments{}.Write(t.Context(), c, types.NamespacedName{Namespace: "production", Name: "webapp"}, seen, Desired{10})
	want := Common{UID: "d-1", ResourceVersion: "2", Spec: 10, Observed: 4, Ready: 3}
	if err != nil || *got.Base() != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// An unset count is written, whatever the kind's default is.
func TestAnUnsetCountIsSet(t *testing.T) {
	for _, replicas := range []int32{0, 1, 5} {
		if unset := (&Scalable{Replicated: Replicated{Common{Spec: 1}}, unset: true}); unset.AsksFor(Desired{replicas}) {
			t.Errorf("asks for %d", replicas)
		}
	}
	set := deployments{}.FromObject(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](0)}})
	if !set.AsksFor(Desired{0}) || set.AsksFor(Desired{1}) {
		t.Error("0 is a count like any other")
	}
}
