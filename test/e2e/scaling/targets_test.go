package scaling

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// scales makes the scaler's target one of the kind.
func scales(apiVersion, kind string) func(*v1beta1.TimeWindowScaler) {
	return func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.TargetRef.APIVersion, tws.Spec.TargetRef.Kind = apiVersion, kind
	}
}

func closesToZero(tws *v1beta1.TimeWindowScaler) { tws.Spec.DefaultReplicas = intstr.FromInt32(0) }

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": targetName}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}
}

func (s *scenario) statefulSet(replicas int32) {
	s.Helper()
	s.Must(admin.Create(s.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(replicas), Template: podTemplate(), PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": targetName}},
		},
	}))
}

func (s *scenario) getStatefulSet() *appsv1.StatefulSet {
	s.Helper()
	set := &appsv1.StatefulSet{}
	s.Get(s.namespace, targetName, set)
	return set
}

// statefulSetSettles is settles for a StatefulSet.
func (s *scenario) statefulSetSettles(replicas int32) {
	s.Helper()
	s.Until("the StatefulSet and its pods as they should be, Ready", func() bool {
		set := s.getStatefulSet()
		return *set.Spec.Replicas == replicas && set.Status.Replicas == replicas && s.pods() == int(replicas) && s.ready(replicas)
	})
}

func (s *scenario) ready(effective int32) bool {
	s.Helper()
	tws := s.scaler()
	return ptr.Deref(tws.Status.EffectiveReplicas, -1) == effective && tws.Status.ObservedGeneration == tws.Generation &&
		meta.IsStatusConditionTrue(tws.Status.Conditions, v1beta1.ConditionReady)
}

// pods counts the pods that are there.
func (s *scenario) pods() int {
	s.Helper()
	var list corev1.PodList
	s.List(s.namespace, &list)
	return len(list.Items)
}

// A StatefulSet follows the same rules as a Deployment: flips, drift, grace, pause, loss and return.
func TestStatefulSet(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.statefulSet(2)
	s.officeHours(scales("apps/v1", "StatefulSet"))
	s.statefulSetSettles(2)
	s.clock("2025-01-27 09:00:00")
	s.statefulSetSettles(10)
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")

	_, _, err := cluster.Kubectl(t.Context(), "", "-n", s.namespace, "scale", "statefulset", targetName, "--replicas=5")
	s.Must(err)
	s.Until("the correction", func() bool { return len(s.notes("ScaledUp")) == 2 })
	s.equal("note", s.notes("ScaledUp")[1], "Corrected manual drift: scaled up from 5 to 10 replicas (window: BusinessHours)")
	s.statefulSetSettles(10)

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = 300 })
	s.clock("2025-01-27 17:00:00")
	s.awaitEvents("GracePeriodStarted", "Grace period started: 300s before scaling to 2 replicas")
	s.equal("while grace runs", *s.getStatefulSet().Spec.Replicas, int32(10))
	s.clock("2025-01-27 17:05:00")
	s.statefulSetSettles(2)

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.clock("2025-01-28 09:00:00")
	s.awaitEvents("ScalingSkipped", "Scaling skipped due to pause: current=2, desired=10")
	s.equal("while paused", *s.getStatefulSet().Spec.Replicas, int32(2))
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.statefulSetSettles(10)

	s.Must(admin.Delete(t.Context(), s.getStatefulSet(), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.awaitEvents("MissingTarget", "Target StatefulSet "+s.namespace+"/webapp not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more")
	s.Until("its pods gone", func() bool { return s.pods() == 0 })
	s.statefulSet(1)
	s.statefulSetSettles(10)
}

func (s *scenario) daemonSet(selector map[string]string) {
	s.Helper()
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName},
		Spec: appsv1.DaemonSetSpec{
			Template: podTemplate(),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": targetName}},
		},
	}
	set.Spec.Template.Spec.NodeSelector = selector
	s.Must(admin.Create(s.Context(), set))
}

func (s *scenario) getDaemonSet() *appsv1.DaemonSet {
	s.Helper()
	set := &appsv1.DaemonSet{}
	s.Get(s.namespace, targetName, set)
	return set
}

// daemonSetSettles waits until the DaemonSet is suspended or runs, with as many pods, and Ready.
func (s *scenario) daemonSetSettles(effective int32, suspended bool, pods int) {
	s.Helper()
	s.Until("the DaemonSet and its pods as they should be, Ready", func() bool {
		_, found := s.getDaemonSet().Spec.Template.Spec.NodeSelector[targetkind.SuspendKey]
		return found == suspended && s.pods() == pods && s.ready(effective)
	})
}

// setsKey writes the key as a user does; "" takes it away.
func (s *scenario) setsKey(value string) {
	s.Helper()
	selector := map[string]any{targetkind.SuspendKey: nil}
	if value != "" {
		selector[targetkind.SuspendKey] = value
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": selector}}}})
	s.Must(err)
	s.Must(admin.Patch(s.Context(), s.getDaemonSet(), client.RawPatch("application/merge-patch+json", patch)))
}

// storedSpec is a DaemonSet's spec, byte for byte as the API server gives it.
func (s *scenario) storedSpec() string {
	s.Helper()
	raw, _, err := cluster.Kubectl(s.Context(), "", "get", "--raw", "/apis/apps/v1/namespaces/"+s.namespace+"/daemonsets/"+targetName)
	s.Must(err)
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	s.Must(json.Unmarshal([]byte(raw), &object))
	return string(object.Spec)
}

// 0 suspends a DaemonSet, its pods really go, and anything above 0 brings them back; its spec is then
// what it was, byte for byte, with a selector of its own or without.
func TestDaemonSet(t *testing.T) {
	for name, selector := range map[string]map[string]string{"plain": nil, "with a selector": {"kubernetes.io/os": "linux"}} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, "2025-01-27 16:59:00")
			s.daemonSet(selector)
			s.Until("its pod", func() bool { return s.pods() == 1 })
			before := s.storedSpec()
			s.officeHours(scales("apps/v1", "DaemonSet"), closesToZero)
			s.daemonSetSettles(10, false, 1)
			s.equal("message", s.condition("Ready", "True", v1beta1.ReasonReconciled), "Target is running as desired (window: BusinessHours)")
			s.measuresNothing("kyklos_replica_drift")

			s.clock("2025-01-27 17:00:00")
			s.daemonSetSettles(0, true, 0)
			s.awaitEvents("ScaledDown", "DaemonSet suspended (window: OffHours)")
			s.equal("observed", ptr.Deref(s.scaler().Status.TargetObservedReplicas, -1), int32(0))
			for key, value := range selector {
				s.equal("the user's own key", s.getDaemonSet().Spec.Template.Spec.NodeSelector[key], value)
			}

			s.clock("2025-01-28 09:00:00")
			s.daemonSetSettles(10, false, 1)
			s.awaitEvents("ScaledUp", "DaemonSet resumed (window: BusinessHours)")
			s.equal("the spec", s.storedSpec(), before)
		})
	}
}

// An added or removed key is corrected, and a count that stays above 0 causes no write.
func TestDaemonSetDrift(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.daemonSet(nil)
	s.officeHours(scales("apps/v1", "DaemonSet"), closesToZero)
	s.daemonSetSettles(10, false, 1)
	generation := s.getDaemonSet().Generation
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(3) })
	s.Until("the new count", func() bool { return s.ready(3) })
	s.equal("generation of the target", s.getDaemonSet().Generation, generation)

	for _, value := range []string{"true", "sometimes"} {
		s.setsKey(value)
		s.daemonSetSettles(3, false, 1)
	}
	s.awaitEvents("ScaledUp", "Corrected manual drift: DaemonSet resumed (window: BusinessHours)") // the second within 5 minutes

	s.clock("2025-01-27 17:00:00")
	s.daemonSetSettles(0, true, 0)
	s.setsKey("")
	s.Until("the correction", func() bool { return len(s.notes("ScaledDown")) == 2 })
	s.equal("note", s.notes("ScaledDown")[1], "Corrected manual drift: DaemonSet suspended (window: OffHours)")
	s.daemonSetSettles(0, true, 0)
}

func TestDaemonSetGraceAndPause(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.daemonSet(map[string]string{"no": "node"}) // that it may run nowhere is the user's business
	s.officeHours(scales("apps/v1", "DaemonSet"), closesToZero, withGrace(300))
	s.daemonSetSettles(10, false, 0)
	s.clock("2025-01-27 17:00:00")
	s.awaitEvents("GracePeriodStarted", "Grace period started: 300s before the DaemonSet is suspended")
	s.daemonSetSettles(10, false, 0)
	s.clock("2025-01-27 17:05:00")
	s.daemonSetSettles(0, true, 0)
	s.awaitEvents("ScaledDown", "DaemonSet suspended after 300s grace period")

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.clock("2025-01-28 09:00:00")
	s.awaitEvents("ScalingSkipped", "Scaling skipped due to pause: current=suspended, desired=running")
	s.Until("the message", func() bool {
		return s.condition("Ready", "False", v1beta1.ReasonTargetMismatch) == "Target is suspended but desired is running (pause=true)"
	})
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.daemonSetSettles(10, false, 0)
}
