package scaling

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/test/harness"
)

// A deletion policy counts from when it is changed, however often that is. The clock does not move, so nothing may wait for it.
func TestChangedDeletionPolicyCountsAtOnce(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.stoppedClock("2025-01-27 14:00:00")
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}}
	labels := map[string]string{"app": targetName}
	d.Spec.Selector, d.Spec.Template = &metav1.LabelSelector{MatchLabels: labels}, harness.NewPodTemplate(labels)
	s.Must(admin.Create(s.Context(), d))
	s.officeHours(func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.TargetRef.Kind, tws.Spec.DeletionPolicy = "DaemonSet", v1beta1.DeletionResume
		tws.Spec.DefaultReplicas, tws.Spec.Windows[0].Replicas = intstr.FromInt32(0), intstr.FromInt32(0)
	})
	is := func(what string, suspended bool, policy v1beta1.DeletionPolicy) {
		s.Helper()
		s.Until(what, func() bool {
			d := &appsv1.DaemonSet{}
			s.Get(s.namespace, targetName, d)
			key := d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey] == targetkind.SuspendValue
			return key == suspended && d.Annotations[targetkind.DeletionPolicyAnnotation] == string(policy)
		})
	}
	is("suspended", true, v1beta1.DeletionResume)
	for _, policy := range []v1beta1.DeletionPolicy{v1beta1.DeletionRetain, v1beta1.DeletionResume, v1beta1.DeletionRetain} {
		s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DeletionPolicy = policy })
		marked := policy
		if policy == v1beta1.DeletionRetain {
			marked = ""
		}
		is("the policy "+string(policy), true, marked)
	}
}
