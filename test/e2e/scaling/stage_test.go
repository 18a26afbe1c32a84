package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	scalerName = "webapp-office-hours"
	targetName = "webapp"
	// patience is how long a test waits for what should happen at once; only a failing test takes it.
	patience = 90 * time.Second
)

// stage is one test's namespace.
type stage struct {
	*testing.T
	namespace string
}

// newStage makes a namespace with the clock at the given local time in Asia/Kolkata.
func newStage(t *testing.T, localTime string) *stage {
	t.Helper()
	s := &stage{T: t}
	s.clock(localTime)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	s.must(admin.Create(t.Context(), ns))
	s.namespace = ns.Name
	t.Cleanup(func() {
		// The scaler goes at once, so that no later test's clock moves it.
		ctx := context.Background()
		_ = admin.DeleteAllOf(ctx, &v1beta1.TimeWindowScaler{}, client.InNamespace(ns.Name))
		_ = admin.Delete(ctx, ns)
	})
	return s
}

// clock sets the controller's clock, for example to "2025-01-27 09:00:00".
func (s *stage) clock(localTime string) {
	s.Helper()
	t, err := time.ParseInLocation(time.DateTime, localTime, kolkata(s.T))
	s.must(err)
	wall.set(t)
}

func kolkata(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// officeHours is the scaler of most stories: 10 replicas Mon-Fri 09:00-17:00 in Asia/Kolkata, else 2.
func (s *stage) officeHours(change ...func(*v1beta1.TimeWindowScaler)) *v1beta1.TimeWindowScaler {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: scalerName},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef:       v1beta1.TargetRef{Kind: "Deployment", Name: targetName},
			Timezone:        "Asia/Kolkata",
			DefaultReplicas: intstr.FromInt32(2),
			Windows: []v1beta1.Window{{
				Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(10),
			}},
		},
	}
	for _, c := range change {
		c(tws)
	}
	s.must(admin.Create(s.Context(), tws))
	return tws
}

func withGrace(seconds int32) func(*v1beta1.TimeWindowScaler) {
	return func(tws *v1beta1.TimeWindowScaler) { tws.Spec.GracePeriodSeconds = seconds }
}

func withHolidays(mode v1beta1.HolidayMode) func(*v1beta1.TimeWindowScaler) {
	return func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	}
}

// target creates the Deployment that is scaled.
func (s *stage) target(replicas int32) {
	s.Helper()
	labels := map[string]string{"app": targetName}
	s.must(admin.Create(s.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}))
}

func (s *stage) holidays(dates ...string) {
	s.Helper()
	data := map[string]string{}
	for _, date := range dates {
		data[date] = "a holiday"
	}
	s.must(admin.Create(s.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "company-holidays"}, Data: data,
	}))
}

func (s *stage) deployment() *appsv1.Deployment {
	s.Helper()
	d := &appsv1.Deployment{}
	s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: targetName}, d))
	return d
}

func (s *stage) scaler() *v1beta1.TimeWindowScaler {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: scalerName}, tws))
	return tws
}

// change edits the scaler's spec.
func (s *stage) change(edit func(*v1beta1.TimeWindowScalerSpec)) {
	s.Helper()
	before := s.scaler()
	after := before.DeepCopy()
	edit(&after.Spec)
	s.must(admin.Patch(s.Context(), after, client.MergeFrom(before)))
}

// userScales sets the target's replicas as a user does with kubectl scale.
func (s *stage) userScales(replicas int32) {
	s.Helper()
	_, _, err := cluster.Kubectl(s.Context(), "", "-n", s.namespace, "scale", "deployment", targetName, fmt.Sprintf("--replicas=%d", replicas))
	s.must(err)
}
