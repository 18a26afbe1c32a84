package scaling

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// settles waits until the target has the replicas, in spec and status, and the scaler is Ready.
func (s *scenario) settles(replicas int32) {
	s.Helper()
	s.Until(fmt.Sprintf("target and status at %d, Ready", replicas), func() bool {
		d, tws := s.deployment(), s.scaler()
		return *d.Spec.Replicas == replicas && d.Status.Replicas == replicas &&
			ptr.Deref(tws.Status.EffectiveReplicas, -1) == replicas && ptr.Deref(tws.Status.TargetObservedReplicas, -1) == replicas &&
			meta.IsStatusConditionTrue(tws.Status.Conditions, v1beta1.ConditionReady)
	})
}

// condition waits for a condition with the given status and reason and returns its message.
func (s *scenario) condition(kind string, status metav1.ConditionStatus, reason string) string {
	s.Helper()
	var message string
	s.Until(fmt.Sprintf("%s=%s/%s", kind, status, reason), func() bool {
		c := meta.FindStatusCondition(s.scaler().Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return false
		}
		message = c.Message
		return true
	})
	return message
}

// notes returns the notes of the scaler's events with the reason, oldest first.
func (s *scenario) notes(reason string) []string {
	s.Helper()
	var list eventsv1.EventList
	s.List(s.namespace, &list)
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	var notes []string
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Kind == v1beta1.Kind && e.Regarding.Name == scalerName {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// awaitEvents waits until the events with the reason are exactly the notes.
func (s *scenario) awaitEvents(reason string, notes ...string) {
	s.Helper()
	s.Until(fmt.Sprintf("%s events %q", reason, notes), func() bool { return slices.Equal(s.notes(reason), notes) })
}

// awaitLastEvent waits until the latest event with the reason has the note. Events and metrics follow the status.
func (s *scenario) awaitLastEvent(reason, note string) {
	s.Helper()
	s.Until(fmt.Sprintf("%s event %q last", reason, note), func() bool {
		notes := s.notes(reason)
		return len(notes) > 0 && notes[len(notes)-1] == note
	})
}

// series returns the series of a metric with all of these labels, as "name=value".
func (s *scenario) series(name string, labels ...string) *dto.Metric {
	s.Helper()
	families, err := metrics.Registry.(prometheus.Gatherer).Gather()
	s.Must(err)
	labels = append(labels, "namespace="+s.namespace)
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if family.GetName() == name && hasLabels(series, labels) {
				return series
			}
		}
	}
	return nil
}

// metric returns the value of the scaler's series with these labels, and whether it exists.
func (s *scenario) metric(name string, labels ...string) (float64, bool) {
	s.Helper()
	series := s.series(name, labels...)
	return series.GetGauge().GetValue() + series.GetCounter().GetValue(), series != nil
}

// passes counts the passes over all scalers.
func (s *scenario) passes() (passes uint64) {
	s.Helper()
	families, err := metrics.Registry.(prometheus.Gatherer).Gather()
	s.Must(err)
	for _, family := range families {
		if family.GetName() == "kyklos_reconcile_duration_seconds" {
			passes = family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	return passes
}

func hasLabels(series *dto.Metric, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(series.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == w }) {
			return false
		}
	}
	return true
}

func (s *scenario) measures(value float64, name string, labels ...string) {
	s.Helper()
	s.Until(fmt.Sprintf("%s{%s} %v", name, strings.Join(labels, ","), value), func() bool {
		got, found := s.metric(name, labels...)
		return found && got == value
	})
}

// measuresNothing waits until the series is gone.
func (s *scenario) measuresNothing(name string) {
	s.Helper()
	s.Until("no "+name, func() bool {
		_, found := s.metric(name)
		return !found
	})
}

// describe returns the state of the scenario for a failing test.
func (s *scenario) describe() string {
	ctx, key := context.Background(), client.ObjectKey{Namespace: s.namespace, Name: scalerName}
	tws, d := &v1beta1.TimeWindowScaler{}, &appsv1.Deployment{}
	_ = admin.Get(ctx, key, tws)
	_ = admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: targetName}, d)
	var list eventsv1.EventList
	_ = admin.List(ctx, &list, client.InNamespace(s.namespace))
	text := fmt.Sprintf("status: %s\nat %s, %d replicas of the target\nevents:", harness.Show(tws.Status), wall.Now().In(kolkata(s)), ptr.Deref(d.Spec.Replicas, -1))
	for _, e := range list.Items {
		text += fmt.Sprintf("\n\t%s %s %s: %s", e.EventTime.Format("15:04:05.000"), e.Regarding.Name, e.Reason, e.Note)
	}
	return text
}

func (s *scenario) equal(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func newTestLog() slog.Handler {
	return slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})
}
