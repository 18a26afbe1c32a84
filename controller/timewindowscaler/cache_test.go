package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

// transform is the cache's transformation of an object.
func transform(t *testing.T, kind client.Object, obj any) any {
	t.Helper()
	for known, options := range CacheOptions(nil).ByObject {
		if cmp.Equal(known, kind) {
			kept, err := options.Transform(obj)
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
	}
	t.Fatalf("no transform for %T", kind)
	return nil
}

// The cache keeps only what Kyklos needs, as that is the memory for thousands of objects.
func TestTheCacheKeepsWhatMatters(t *testing.T) {
	deleted := ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))
	identity := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7", DeletionTimestamp: deleted}
	full := identity
	full.Labels, full.Annotations, full.Finalizers = map[string]string{"a": "b"}, map[string]string{"a": "b"}, []string{"f"}
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	created := metav1.NewTime(time.Unix(1_600_000_000, 0))
	scaler := v1beta1.TimeWindowScaler{ObjectMeta: identity, Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: "web"}, Timezone: "UTC", GracePeriodSeconds: 5,
		Windows: []v1beta1.Window{{Name: "day", Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "17:00"}},
	}, Status: v1beta1.TimeWindowScalerStatus{
		Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Reconciled", Message: "m", ObservedGeneration: 3, LastTransitionTime: created}},
		Applied:    &v1beta1.Applied{State: "s", At: created, TargetUID: "t"}, TargetUID: "t", ObservedGeneration: 3, CurrentWindow: "day",
	}}
	scaler.Generation, scaler.CreationTimestamp, scaler.Finalizers = 3, created, full.Finalizers
	whole := *scaler.DeepCopy()
	whole.TypeMeta = metav1.TypeMeta{Kind: "TimeWindowScaler", APIVersion: "kyklos.io/v1beta1"}
	whole.Labels, whole.Annotations, whole.Finalizers, whole.ManagedFields = full.Labels, full.Annotations, full.Finalizers, full.ManagedFields
	marked, bad := whole.DeepCopy(), scaler.DeepCopy()
	marked.Annotations = map[string]string{"a": "b", "kyklos.io/undecodable spec": "why"}
	bad.Annotations = map[string]string{"kyklos.io/undecodable spec": "why"}
	held, free := whole.DeepCopy(), scaler.DeepCopy() // not deleted: its finalizers do not matter
	held.DeletionTimestamp, free.DeletionTimestamp, free.Finalizers = nil, nil, nil
	reference := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for name, tc := range map[string]struct {
		kind      client.Object
		obj, want any
	}{
		"Deployment": {&appsv1.Deployment{}, &appsv1.Deployment{
			ObjectMeta: full,
			Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](3), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "n"}}},
			Status:     appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 1, UpdatedReplicas: 2},
		}, &target.Counts{ObjectMeta: identity, Desired: 3, Observed: 2, Ready: 1}},
		"StatefulSet": {&appsv1.StatefulSet{}, &appsv1.StatefulSet{
			ObjectMeta: full,
			Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3), ServiceName: "web"},
			Status:     appsv1.StatefulSetStatus{Replicas: 2, ReadyReplicas: 1, CurrentReplicas: 1},
		}, &target.Counts{ObjectMeta: identity, Desired: 3, Observed: 2, Ready: 1}},
		"DaemonSet": {&appsv1.DaemonSet{}, &appsv1.DaemonSet{
			ObjectMeta: full,
			Spec:       appsv1.DaemonSetSpec{MinReadySeconds: 5, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd", targetkind.SuspendKey: "true"}}}},
			Status:     appsv1.DaemonSetStatus{NumberMisscheduled: 2, NumberReady: 1},
		}, &appsv1.DaemonSet{
			ObjectMeta: identity,
			Spec:       appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{targetkind.SuspendKey: "true"}}}},
			Status:     appsv1.DaemonSetStatus{NumberMisscheduled: 2},
		}},
		"TimeWindowScaler":              {&v1beta1.TimeWindowScaler{}, &whole, &scaler},
		"TimeWindowScaler, not deleted": {&v1beta1.TimeWindowScaler{}, held, free},
		"undecodable TimeWindowScaler":  {&v1beta1.TimeWindowScaler{}, marked, bad},
		"HorizontalPodAutoscaler": {&autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: full,
			Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: reference, MaxReplicas: 9},
			Status:     autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 4},
		}, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: identity,
			Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: reference},
		}},
	} {
		if diff := cmp.Diff(tc.want, transform(t, tc.kind, tc.obj)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		// A deletion that was missed arrives in this wrapping.
		tombstone := toolscache.DeletedFinalStateUnknown{Key: "shop/web", Obj: tc.obj}
		if diff := cmp.Diff(any(tombstone), transform(t, tc.kind, tombstone)); diff != "" {
			t.Errorf("%s, deleted unseen: (-want +got)\n%s", name, diff)
		}
	}
}

func TestNamespacesToWatch(t *testing.T) {
	if got := CacheOptions(nil).DefaultNamespaces; got != nil {
		t.Errorf("without namespaces: %v, want none, which is all", got)
	}
	got := CacheOptions([]string{"shop", "lab"}).DefaultNamespaces
	if _, shop := got["shop"]; len(got) != 2 || !shop {
		t.Errorf("got %v", got)
	}
}
