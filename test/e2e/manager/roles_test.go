package integration

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

// allowed lets the manager scale ReplicationControllers in the stage's namespace only.
func (s *stage) allowed() {
	s.Helper()
	meta := metav1.ObjectMeta{Namespace: s.namespace, Name: "kyklos-replicationcontrollers"}
	s.must(admin.Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"replicationcontrollers"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"replicationcontrollers/scale"}, Verbs: []string{"get", "patch"}},
	}}))
	s.must(admin.Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.SystemNamespace, Name: "kyklos-manager"}},
	}))
}

// controlled creates a ReplicationController and its scaler, which always wants two replicas.
func (s *stage) controlled(name string) {
	s.Helper()
	labels := map[string]string{"app": name}
	s.must(admin.Create(s.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: ptr.To[int32](0), Selector: labels,
			Template: &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}))
	s.must(admin.Create(s.Context(), &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
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

func (s *stage) awaitControlled(replicas int32) {
	s.Helper()
	s.eventually("the replicas", func() bool {
		rc := &corev1.ReplicationController{}
		err := admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "web"}, rc)
		return err == nil && ptr.Deref(rc.Spec.Replicas, -1) == replicas
	})
}

// A manager for some namespaces needs its permissions for a further kind in these alone, by a Role in each.
func TestRolesForAFurtherKind(t *testing.T) {
	first, second := newStage(t), newStage(t)
	second.clockFile = first.clockFile
	first.clock("2025-01-27 10:00:00")
	for _, s := range []*stage{first, second} {
		s.allowed()
		s.controlled("web")
	}
	first.manager(nil, "--leader-elect=false", "--namespaces="+first.namespace+","+second.namespace)
	for _, s := range []*stage{first, second} {
		s.awaitControlled(2)
		rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
		s.must(admin.Patch(s.Context(), rc, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":5}}`))))
		s.awaitControlled(2) // the watch of each namespace tells of drift
	}
}

// A kind whose scale is never answered, with more scalers than there are workers, holds up no other flip.
func TestFlipsWhileAKindHangs(t *testing.T) {
	const hanging, others = 30, 10
	s := newStage(t)
	s.clock("2025-01-27 08:00:00")
	s.allowed()
	for i := range hanging {
		s.controlled(fmt.Sprintf("hanging-%02d", i))
	}
	for i := range others {
		s.pair(fmt.Sprintf("other-%02d", i), 1, "08:30", "17:00")
	}
	proxy := s.proxy()
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
	m := s.manager(proxy, "--leader-elect=false", "--namespaces="+s.namespace)
	s.awaitReady(m)
	s.eventually("every worker hang", func() bool { return len(proxy.Requests(hangs)) >= 10 })
	s.clock("2025-01-27 08:30:00")
	s.awaitSettled(others, 1)
	t.Logf("%d flips took %.1f s in sum after their boundary, beside %d scalers of a kind that hangs",
		others, s.sum(m, "kyklos_boundary_lateness_seconds_sum"), hanging)
}
