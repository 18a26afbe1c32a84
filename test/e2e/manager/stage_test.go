package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits for what should happen at once; only a failing test takes it.
const patience = 90 * time.Second

// stage is one test's namespace, clock and managers.
type stage struct {
	*testing.T
	namespace string
	clockFile harness.Clock
	log       harness.Log
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, clockFile: harness.Clock(filepath.Join(t.TempDir(), "clock"))}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "integration-"}}
	s.must(admin.Create(t.Context(), ns))
	s.namespace = ns.Name
	t.Cleanup(func() {
		ctx := context.Background()
		_ = admin.DeleteAllOf(ctx, &v1beta1.TimeWindowScaler{}, client.InNamespace(ns.Name))
		_ = admin.DeleteAllOf(ctx, &appsv1.Deployment{}, client.InNamespace(ns.Name))
		_ = admin.Delete(ctx, ns)
		if t.Failed() {
			t.Logf("the managers logged:\n%s", s.log.String())
		}
	})
	return s
}

// clock sets the manager's clock to a time in UTC, for example "2025-01-27 09:00:00".
func (s *stage) clock(utc string) {
	s.Helper()
	s.must(s.clockFile.Set(utc))
}

// manager starts a manager with a movable clock, through proxy if there is one.
func (s *stage) manager(proxy *harness.Proxy, args ...string) *harness.Manager {
	s.Helper()
	m, err := cluster.StartManager(s.Context(), harness.ManagerOptions{
		WebhookPort: webhookPort,
		Binary:      movable,
		Proxy:       proxy,
		Args:        append([]string{"--requeue-jitter-max=0", "--log-format=text"}, args...),
		Env:         []string{s.clockFile.Env()},
		Log:         &s.log,
	})
	s.must(err)
	s.Cleanup(func() { _ = m.Kill() })
	return m
}

func (s *stage) awaitReady(m *harness.Manager) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(m.AwaitReady(ctx))
}

func (s *stage) proxy() *harness.Proxy {
	s.Helper()
	p, err := cluster.StartProxy()
	s.must(err)
	s.Cleanup(p.Close)
	return p
}

// pair creates a Deployment and its scaler: replicas Mon-Fri from start to end UTC, else 0.
func (s *stage) pair(name string, replicas int32, start, end string) {
	s.Helper()
	labels := map[string]string{"app": name}
	s.must(admin.Create(s.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}))
	s.must(admin.Create(s.Context(), &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: name},
			Timezone:  "UTC",
			Windows: []v1beta1.Window{{
				Days:  []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"},
				Start: start, End: end, Replicas: intstr.FromInt32(replicas),
			}},
		},
	}))
}

// settled counts the scalers that are Ready with the given effective replicas.
func (s *stage) settled(replicas int32) int {
	s.Helper()
	var list v1beta1.TimeWindowScalerList
	if err := admin.List(s.Context(), &list, client.InNamespace(s.namespace)); err != nil {
		return -1 // the API server may be away; whoever counts asks again
	}
	count := 0
	for i := range list.Items {
		status := &list.Items[i].Status
		if ptr.Deref(status.EffectiveReplicas, -1) == replicas && ptr.Deref(status.TargetObservedReplicas, -1) == replicas &&
			meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady) {
			count++
		}
	}
	return count
}

func (s *stage) awaitSettled(count int, replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("%d scalers settled at %d", count, replicas), func() bool { return s.settled(replicas) == count })
}

func (s *stage) eventually(what string, done func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		s.Fatalf("never saw %s; the scalers are:\n%s", what, s.scalers(10))
	}
}

// scalers tells of the first scalers what a failing test's reader needs.
func (s *stage) scalers(most int64) string {
	var list v1beta1.TimeWindowScalerList
	err := admin.List(context.WithoutCancel(s.Context()), &list, client.InNamespace(s.namespace), client.Limit(most))
	if err != nil {
		return err.Error()
	}
	text := ""
	for i := range list.Items {
		text += fmt.Sprintf("%s: %s\n", list.Items[i].Name, harness.Show(list.Items[i].Status))
	}
	return text
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
