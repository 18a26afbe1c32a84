package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1alpha1"
)

const (
	scalerName = "webapp-office-hours"
	targetName = "webapp"
	// patience is how long a test waits for what should happen at once; only a failing test takes it.
	patience = 30 * time.Second
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
		_ = admin.DeleteAllOf(ctx, &v1alpha1.TimeWindowScaler{}, client.InNamespace(ns.Name))
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

// officeHours is seed 003's scaler: 10 replicas Mon-Fri 09:00-17:00 in Asia/Kolkata, else 2.
func (s *stage) officeHours(change ...func(*v1alpha1.TimeWindowScaler)) *v1alpha1.TimeWindowScaler {
	s.Helper()
	tws := &v1alpha1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: scalerName},
		Spec: v1alpha1.TimeWindowScalerSpec{
			TargetRef:       v1alpha1.TargetRef{Kind: "Deployment", Name: targetName},
			Timezone:        "Asia/Kolkata",
			DefaultReplicas: 2,
			Windows: []v1alpha1.Window{{
				Days: []v1alpha1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}, Start: "09:00", End: "17:00", Replicas: 10,
			}},
		},
	}
	for _, c := range change {
		c(tws)
	}
	s.must(admin.Create(s.Context(), tws))
	return tws
}

func withGrace(seconds int32) func(*v1alpha1.TimeWindowScaler) {
	return func(tws *v1alpha1.TimeWindowScaler) { tws.Spec.GracePeriodSeconds = seconds }
}

func withHolidays(mode v1alpha1.HolidayMode) func(*v1alpha1.TimeWindowScaler) {
	return func(tws *v1alpha1.TimeWindowScaler) {
		tws.Spec.Holidays = &v1alpha1.Holidays{Mode: mode, SourceRef: &v1alpha1.HolidaySource{Name: "company-holidays"}}
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

func (s *stage) scaler() *v1alpha1.TimeWindowScaler {
	s.Helper()
	tws := &v1alpha1.TimeWindowScaler{}
	s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: scalerName}, tws))
	return tws
}

// change edits the scaler's spec.
func (s *stage) change(edit func(*v1alpha1.TimeWindowScalerSpec)) {
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

// settles waits until the target has the replicas, in spec and status, and the scaler is Ready.
func (s *stage) settles(replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("target and status at %d, Ready", replicas), func() bool {
		d, tws := s.deployment(), s.scaler()
		return *d.Spec.Replicas == replicas && d.Status.Replicas == replicas &&
			ptr.Deref(tws.Status.EffectiveReplicas, -1) == replicas && ptr.Deref(tws.Status.TargetObservedReplicas, -1) == replicas &&
			meta.IsStatusConditionTrue(tws.Status.Conditions, v1alpha1.ConditionReady)
	})
}

// condition waits for a condition with the given status and reason and returns its message.
func (s *stage) condition(kind string, status metav1.ConditionStatus, reason string) string {
	s.Helper()
	var message string
	s.eventually(fmt.Sprintf("%s=%s/%s", kind, status, reason), func() bool {
		c := meta.FindStatusCondition(s.scaler().Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return false
		}
		message = c.Message
		return true
	})
	return message
}

// notes are the events of the scaler with the given reason, oldest first.
func (s *stage) notes(reason string) []string {
	s.Helper()
	var list eventsv1.EventList
	s.must(admin.List(s.Context(), &list, client.InNamespace(s.namespace)))
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	var notes []string
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Kind == v1alpha1.Kind {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// hears waits until the events with the reason are exactly the notes.
func (s *stage) hears(reason string, notes ...string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s events %q", reason, notes), func() bool { return slices.Equal(s.notes(reason), notes) })
}

// metric returns the value of the scaler's series with the given further labels ("name=value"), and
// whether there is one.
func (s *stage) metric(name string, labels ...string) (float64, bool) {
	s.Helper()
	families, err := metrics.Registry.(prometheus.Gatherer).Gather()
	s.must(err)
	want := append(labels, "namespace="+s.namespace)
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if family.GetName() == name && hasLabels(series, want) {
				return series.GetGauge().GetValue() + series.GetCounter().GetValue(), true
			}
		}
	}
	return 0, false
}

func hasLabels(series *dto.Metric, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(series.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == w }) {
			return false
		}
	}
	return true
}

func (s *stage) measures(value float64, name string, labels ...string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s{%s} %v", name, strings.Join(labels, ","), value), func() bool {
		got, found := s.metric(name, labels...)
		return found && got == value
	})
}

func (s *stage) eventually(what string, done func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		tws := s.scaler()
		s.Fatalf("never saw %s\nstatus: %+v\nat %s", what, tws.Status, wall.Now().In(kolkata(s.T)))
	}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) equal(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func newTestLog() slog.Handler {
	return slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})
}
