package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// settles waits until the target has the replicas, in spec and status, and the scaler is Ready.
func (s *stage) settles(replicas int32) {
	s.Helper()
	s.eventually(fmt.Sprintf("target and status at %d, Ready", replicas), func() bool {
		d, tws := s.deployment(), s.scaler()
		return *d.Spec.Replicas == replicas && d.Status.Replicas == replicas &&
			ptr.Deref(tws.Status.EffectiveReplicas, -1) == replicas && ptr.Deref(tws.Status.TargetObservedReplicas, -1) == replicas &&
			meta.IsStatusConditionTrue(tws.Status.Conditions, v1beta1.ConditionReady)
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
		if e.Reason == reason && e.Regarding.Kind == v1beta1.Kind && e.Regarding.Name == scalerName {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// heard are all events of the stage, for a failure's message.
func (s *stage) heard() (all []string) {
	s.Helper()
	var list eventsv1.EventList
	s.must(admin.List(s.Context(), &list, client.InNamespace(s.namespace)))
	for _, e := range list.Items {
		all = append(all, fmt.Sprintf("%s %s %s: %s", e.EventTime.Format("15:04:05.000"), e.Regarding.Name, e.Reason, e.Note))
	}
	return all
}

// hears waits until the events with the reason are exactly the notes.
func (s *stage) hears(reason string, notes ...string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s events %q", reason, notes), func() bool { return slices.Equal(s.notes(reason), notes) })
}

// hearsLast waits until the latest event with the reason is the note: events and metrics tell of a pass after its
// status does.
func (s *stage) hearsLast(reason, note string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s event %q last", reason, note), func() bool {
		notes := s.notes(reason)
		return len(notes) > 0 && notes[len(notes)-1] == note
	})
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

// passes counts how often a scaler of the namespace was looked at.
func (s *stage) passes(name string) uint64 {
	s.Helper()
	families, err := metrics.Registry.(prometheus.Gatherer).Gather()
	s.must(err)
	for _, family := range families {
		for _, series := range family.GetMetric() {
			if family.GetName() == "kyklos_reconcile_duration_seconds" && hasLabels(series, []string{"namespace=" + s.namespace, "tws_name=" + name}) {
				return series.GetHistogram().GetSampleCount()
			}
		}
	}
	return 0
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

// measuresNothing waits until there is no such series.
func (s *stage) measuresNothing(name string) {
	s.Helper()
	s.eventually("no "+name, func() bool {
		_, found := s.metric(name)
		return !found
	})
}

func (s *stage) eventually(what string, done func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		tws := s.scaler()
		s.Fatalf("never saw %s\nstatus: %s\nat %s, %d replicas at the target\nevents: %s", what, harness.Show(tws.Status), wall.Now().In(kolkata(s.T)),
			ptr.Deref(s.deployment().Spec.Replicas, -1), strings.Join(s.heard(), "\n\t"))
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
