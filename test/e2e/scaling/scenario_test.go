package scaling

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

const (
	scalerName = "webapp-office-hours"
	targetName = "webapp"
)

// scenario is one test's namespace with one scaler and its target.
type scenario struct {
	*harness.T
	namespace string
}

// newScenario creates a namespace and sets the clock to the given local time in Asia/Kolkata.
func newScenario(t *testing.T, localTime string) *scenario {
	t.Helper()
	s := &scenario{T: harness.NewT(t, cluster)}
	s.clock(localTime)
	s.namespace = s.NewNamespace("scaling-")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.describe())
		}
		// The scaler is deleted first, so that no later test's clock moves it.
		_ = admin.DeleteAllOf(context.Background(), &v1beta1.TimeWindowScaler{}, client.InNamespace(s.namespace))
	})
	return s
}

// clock sets the controller's clock, for example to "2025-01-27 09:00:00".
func (s *scenario) clock(localTime string) {
	s.Helper()
	wall.set(s.local(localTime))
}

// stoppedClock sets the controller's clock and stops it, however slow the machine is.
func (s *scenario) stoppedClock(localTime string) {
	s.Helper()
	wall.stop(s.local(localTime))
}

func (s *scenario) local(localTime string) time.Time {
	s.Helper()
	t, err := time.ParseInLocation(time.DateTime, localTime, kolkata(s))
	s.Must(err)
	return t
}

func kolkata(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Kolkata")
	harness.Must(t, err)
	return zone
}

// officeHours is the scaler of most stories: 10 replicas Mon-Fri 09:00-17:00 in Asia/Kolkata, else 2.
func (s *scenario) officeHours(change ...func(*v1beta1.TimeWindowScaler)) *v1beta1.TimeWindowScaler {
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
	s.Must(admin.Create(s.Context(), tws))
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
func (s *scenario) target(replicas int32) {
	s.Helper()
	s.Must(admin.Create(s.Context(), harness.NewDeployment(s.namespace, targetName, replicas)))
}

func (s *scenario) holidays(dates ...string) {
	s.Helper()
	data := map[string]string{}
	for _, date := range dates {
		data[date] = "a holiday"
	}
	s.Must(admin.Create(s.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "company-holidays"}, Data: data,
	}))
}

func (s *scenario) deployment() *appsv1.Deployment {
	s.Helper()
	d := &appsv1.Deployment{}
	s.Get(s.namespace, targetName, d)
	return d
}

func (s *scenario) scaler() *v1beta1.TimeWindowScaler {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.Get(s.namespace, scalerName, tws)
	return tws
}

// change edits the scaler's spec.
func (s *scenario) change(edit func(*v1beta1.TimeWindowScalerSpec)) {
	s.Helper()
	before := s.scaler()
	after := before.DeepCopy()
	edit(&after.Spec)
	s.Must(admin.Patch(s.Context(), after, client.MergeFrom(before)))
}

// userScales sets the target's replicas as a user does with kubectl scale.
func (s *scenario) userScales(replicas int32) {
	s.Helper()
	s.Kubectl("", "-n", s.namespace, "scale", "deployment", targetName, fmt.Sprintf("--replicas=%d", replicas))
}
