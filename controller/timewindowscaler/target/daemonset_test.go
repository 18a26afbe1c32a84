package target

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/internal/targetkind"
)

// daemonSet returns a DaemonSet with the given value of our key, "" for no key, and a status about its spec.
func daemonSet(value string, status appsv1.DaemonSetStatus) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{UID: "d-1", ResourceVersion: "1", Generation: 2}, Status: status}
	d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	if value != "" {
		d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey] = value
	}
	return d
}

func scheduled(generation int64, desired, current, misscheduled int32) appsv1.DaemonSetStatus {
	return appsv1.DaemonSetStatus{ObservedGeneration: generation, DesiredNumberScheduled: desired,
		CurrentNumberScheduled: current, NumberMisscheduled: misscheduled}
}

// A6: 0 suspends, anything above lets it run; B4: Ready is about the pods, of the spec as it is now.
func TestWhatADaemonSetAsksForAndHas(t *testing.T) {
	none, some := Desired{0}, Desired{5}
	type answers struct{ AsksForNone, AsksForSome, HasNone, HasSome bool }
	for name, tc := range map[string]struct {
		d     *appsv1.DaemonSet
		want  answers
		state string
	}{
		"runs":                    {daemonSet("", scheduled(2, 3, 3, 0)), answers{AsksForSome: true, HasSome: true}, "running"},
		"runs where it should":    {daemonSet("", scheduled(2, 3, 3, 1)), answers{AsksForSome: true, HasSome: true}, "running"},
		"no node matches":         {daemonSet("", scheduled(2, 0, 0, 0)), answers{AsksForSome: true, HasSome: true}, "running"},
		"pods pending":            {daemonSet("", scheduled(2, 3, 1, 0)), answers{AsksForSome: true}, "starting"},
		"freed, status still old": {daemonSet("", scheduled(1, 0, 0, 0)), answers{AsksForSome: true}, "starting"},
		"suspended":               {daemonSet("true", scheduled(2, 0, 0, 0)), answers{AsksForNone: true, HasNone: true}, "suspended"},
		"pods still to go":        {daemonSet("true", scheduled(2, 0, 0, 3)), answers{AsksForNone: true}, "being suspended"},
		"suspended, old status":   {daemonSet("true", scheduled(1, 3, 3, 0)), answers{AsksForNone: true}, "being suspended"},
		"a value of another tool": {daemonSet("yes", scheduled(2, 0, 0, 0)), answers{}, "suspended"},
	} {
		got := daemonSets{}.FromObject(tc.d).(*DaemonSet)
		if diff := cmp.Diff(tc.want, answers{got.AsksFor(none), got.AsksFor(some), got.Has(none), got.Has(some)}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if got.state() != tc.state {
			t.Errorf("%s: %s, want %s", name, got.state(), tc.state)
		}
		kept, err := daemonSets{}.Strip(tc.d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Target(got), daemonSets{}.FromObject(kept.(*appsv1.DaemonSet)), cmp.AllowUnexported(DaemonSet{})); diff != "" {
			t.Errorf("%s: the cache loses something (-before +after)\n%s", name, diff)
		}
	}
}

// The patch names our one key and the version seen; null removes a key in a merge patch (RFC 7396).
func TestSuspendPatch(t *testing.T) {
	for replicas, want := range map[int32]string{
		0: `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":"true"}}}}}`,
		5: `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":null}}}}}`,
	} {
		var got string
		records := interceptor.Funcs{Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(obj)
			got = string(data)
			return err
		}}
		c := &Clients{Client: clientfake.NewClientBuilder().WithInterceptorFuncs(records).Build()}
		seen := &DaemonSet{Common: Common{ResourceVersion: "7"}}
		if _, err := (daemonSets{}).Write(t.Context(), c, types.NamespacedName{Namespace: "shop", Name: "agent"}, seen, Desired{replicas}); err != nil || got != want {
			t.Errorf("%d: %s, %v", replicas, got, err)
		}
	}
}
