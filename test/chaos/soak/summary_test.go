package soak

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/chaos/matrix"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// summary prints what happened, and checks that others' fields are as they were.
func (s *soak) summary() {
	s.checkForeignFields()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.injected)) {
		s.say("%4d times: %s", s.injected[name], name)
	}
	s.say("%d writes to targets, %d violations", s.writes, s.violations)
	s.say("everything was as it should be after %d faults in a row of %d", len(s.recovered), len(s.recovered)+s.unsettled)
	s.spread("from the end of the faults until then", s.recovered)
	s.spread("from a boundary between storms to the write", s.late)
	harness.Must(s.T, s.record())
	if s.writes == 0 || len(s.recovered) == 0 {
		s.Error("nothing was tested: the managers wrote nothing, or the machine was always too slow for a verdict")
	}
}

// spread prints how some durations are distributed.
func (s *soak) spread(what string, of []time.Duration) {
	if n := len(of); n > 0 {
		slices.Sort(of)
		round := func(i int) time.Duration { return of[i].Round(time.Millisecond) }
		s.say("%s: median %s, 99 %% within %s, at most %s, of %d", what, round(n/2), round(n*99/100), round(n-1), n)
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
