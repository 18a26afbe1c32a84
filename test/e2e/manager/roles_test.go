package manager

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// allowed lets the manager scale ReplicationControllers in the namespace.
func (s *scenario) allowed() {
	s.Helper()
	meta := metav1.ObjectMeta{Namespace: s.Namespace, Name: "kyklos-replicationcontrollers"}
	s.Must(s.Client.Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"replicationcontrollers"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"replicationcontrollers/scale"}, Verbs: []string{"get", "patch"}},
	}}))
	s.Must(s.Client.Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.SystemNamespace, Name: "kyklos-manager"}},
	}))
}

// controlled creates a ReplicationController and its scaler, which always wants two replicas.
func (s *scenario) controlled(name string) {
	s.Helper()
	labels := map[string]string{"app": name}
	s.Must(s.Client.Create(s.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: ptr.To[int32](0), Selector: labels,
			Template: ptr.To(harness.NewPodTemplate(labels)),
		},
	}))
	s.Must(s.Client.Create(s.Context(), &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef:       v1beta1.TargetRef{APIVersion: "v1", Kind: "ReplicationController", Name: name},
			Timezone:        "UTC",
			DefaultReplicas: intstr.FromInt32(2),
			Windows: []v1beta1.Window{{
				Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(2),
			}},
		},
	}))
}

func (s *scenario) awaitControlled(replicas int32) {
	s.Helper()
	s.Until("the replicas", func() bool {
		rc := &corev1.ReplicationController{}
		err := s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "web"}, rc)
		return err == nil && ptr.Deref(rc.Spec.Replicas, -1) == replicas
	})
}

// A manager for some namespaces needs its permissions for a further kind only there, from a Role in each.
func TestRolesForAFurtherKind(t *testing.T) {
	first, second := newScenario(t), newScenario(t)
	second.Clock = first.Clock
	first.SetClock("2025-01-27 10:00:00")
	for _, s := range []*scenario{first, second} {
		s.allowed()
		s.controlled("web")
	}
	first.Start(nil, "--leader-elect=false", "--namespaces="+first.Namespace+","+second.Namespace)
	for _, s := range []*scenario{first, second} {
		s.awaitControlled(2)
		rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}}
		s.Patch(rc, `{"spec":{"replicas":5}}`)
		s.awaitControlled(2) // found by the watch of each namespace
	}
}

// A kind whose scale requests hang, with more scalers than there are workers, delays no other flip.
func TestFlipsWhileAKindHangs(t *testing.T) {
	const hanging, others = 30, 10
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	s.allowed()
	for i := range hanging {
		s.controlled(fmt.Sprintf("hanging-%02d", i))
	}
	for i := range others {
		s.CreatePair(fmt.Sprintf("other-%02d", i), 1, "08:30", "17:00")
	}
	proxy := s.StartProxy()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hangs := func(r harness.Request) bool {
		return strings.Contains(r.Path, "/replicationcontrollers/") && strings.HasSuffix(r.Path, "/scale")
	}
	proxy.Inject(func(r harness.Request, after bool) {
		if hangs(r) && !after {
			<-release
		}
	})
	m := s.Start(proxy, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(m)
	s.Until("every worker hang", func() bool { return len(proxy.Requests(hangs)) >= 10 })
	s.SetClock("2025-01-27 08:30:00")
	s.AwaitSettled(others, 1)
	t.Logf("%d flips took %.1f s in sum after their boundary, beside %d scalers of a kind that hangs",
		others, s.Sum(m, "kyklos_boundary_lateness_seconds_sum"), hanging)
}
