package soak

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/chaos/matrix"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// keepChecking compares what every target has with what it should have, until ctx ends.
func (s *soak) keepChecking(ctx context.Context) {
	for ctx.Err() == nil {
		s.check(ctx)
		for _, r := range s.replicas {
			r.proxy.Forget() // an hour of requests does not fit into memory
		}
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
		}
	}
}

// check is one comparison. An API server that does not answer proves nothing.
func (s *soak) check(ctx context.Context) {
	began := time.Now()
	have, reported := map[string]int32{}, map[string]int32{}
	for _, k := range kinds {
		if k.listing(ctx, s.client, have) != nil {
			return
		}
	}
	var scalers v1beta1.TimeWindowScalerList
	if s.client.List(ctx, &scalers) != nil {
		return
	}
	if time.Since(began) > slowest {
		s.tooSlow()
		return
	}
	for i := range scalers.Items {
		tws := &scalers.Items[i]
		reported[tws.Namespace+"/"+tws.Name] = ptr.Deref(tws.Status.EffectiveReplicas, -1)
	}
	for _, o := range s.objects {
		want, since, ok := o.want(began)
		if !ok || !s.isOverdue(since, began) {
			continue
		}
		if got, there := have[o.key()]; there && got != want {
			s.reportOnce(o, "count", since, "has", got, want)
		}
		if got, there := reported[o.namespace+"/"+o.name]; there && got != want {
			s.reportOnce(o, "status", since, "has a scaler whose status says", got, want)
		}
	}
}

// slowest is how long a check may take. On a machine that needs longer for a few lists, nobody is on time.
const slowest = 4 * time.Second

// tooSlow makes a starved machine a fault.
func (s *soak) tooSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calmSince = time.Now()
	s.injected["the machine was too slow for a verdict"]++
}

// isOverdue reports whether something that should be so since a time should be so by now.
func (s *soak) isOverdue(since, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 {
		return false
	}
	if since.Before(s.calmSince) {
		since = s.calmSince
	}
	return now.Sub(since) > *patience
}

func (s *soak) reportOnce(o *object, what string, since time.Time, verb string, got, want int32) {
	s.mu.Lock()
	before := s.overdue[what+o.key()]
	s.overdue[what+o.key()] = since
	calm := s.calmSince
	s.mu.Unlock()
	if !before.Equal(since) {
		s.failed("%s %s %d, want %d since %s; the last fault ended at %s\n%s", o.key(), verb, got, want, clock(since), clock(calm), o.history())
	}
}

// operate is the operator of Widgets: it reports that they have their replicas.
func (s *soak) operate(ctx context.Context) {
	for ctx.Err() == nil {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(fixtures.Widgets.APIVersion)
		list.SetKind("WidgetList")
		if s.client.List(ctx, list) == nil {
			for i := range list.Items {
				s.follow(ctx, &list.Items[i])
			}
			s.followAll(ctx, list)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// followAll follows the Widgets until their watch ends.
func (s *soak) followAll(ctx context.Context, list *unstructured.UnstructuredList) {
	watch, err := s.client.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if widget, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != "DELETED" && event.Type != "ERROR" {
			s.follow(ctx, widget)
		}
	}
}

func (s *soak) follow(ctx context.Context, widget *unstructured.Unstructured) {
	want, _, _ := unstructured.NestedInt64(widget.Object, "spec", "replicas")
	have, there, _ := unstructured.NestedInt64(widget.Object, "status", "replicas")
	if !there || have != want {
		_ = s.client.Status().Patch(ctx, widget, merge(`{"status":{"replicas":%d}}`, want))
	}
}

// summary prints what happened, and checks that others' fields are as they were.
func (s *soak) summary() {
	s.checkForeignFields()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.late)
	for _, name := range slices.Sorted(maps.Keys(s.injected)) {
		s.say("%4d times: %s", s.injected[name], name)
	}
	s.say("%d writes to targets, %d violations", s.writes, s.violations)
	if n := len(s.late); n > 0 {
		s.say("from a boundary between storms to the write: median %s, 99 %% within %s, at most %s, of %d",
			s.late[n/2].Round(time.Millisecond), s.late[n*99/100].Round(time.Millisecond), s.late[n-1].Round(time.Millisecond), n)
	}
	harness.Must(s.T, s.record())
	if s.writes == 0 {
		s.Error("no manager wrote anything: nothing was tested")
	}
}

// record keeps what docs/faults.md shows of a long run.
func (s *soak) record() error {
	if *length < time.Hour {
		return nil
	}
	faults := 0
	for _, count := range s.injected {
		faults += count
	}
	return errors.Join(
		matrix.Record("F23", "length", *length), matrix.Record("F23", "scalers", *size), matrix.Record("F23", "faults", faults),
		matrix.Record("F23", "writes to targets", s.writes), matrix.Record("F23", "violations", s.violations))
}

// checkForeignFields compares labels, annotations and other fields with those that the targets were created with.
func (s *soak) checkForeignFields() {
	for _, k := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(k.APIVersion)
		list.SetKind(k.Name + "List")
		s.try(func(ctx context.Context) error {
			return s.client.List(ctx, list, client.MatchingLabels{"soak": "keep"})
		})
		for i := range list.Items {
			u := &list.Items[i]
			color, _, _ := unstructured.NestedString(u.Object, "spec", "color")
			if u.GetAnnotations()["soak"] != "keep" || k.TargetKind == fixtures.Widgets && color != "blue" {
				s.failed("%s %s/%s: others' fields are not as they were: %v", k.Name, u.GetNamespace(), u.GetName(), u.Object)
			}
		}
		if want := s.countOf(k); len(list.Items) != want {
			s.failed("got %d targets of kind %s, want %d", len(list.Items), k.Name, want)
		}
	}
}

func (s *soak) countOf(k *kind) (count int) {
	for _, o := range s.objects {
		if o.kind == k {
			count++
		}
	}
	return count
}
