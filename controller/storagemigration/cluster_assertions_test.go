package storagemigration_test

import (
	"fmt"
	"maps"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
)

// stored returns the objects in the store, by namespace and name.
func (s *stage) stored() map[string]harness.Stored {
	s.Helper()
	found, err := s.cluster.Stored(s.Context(), "kyklos.io/timewindowscalers")
	s.must(err)
	return found
}

// allStored checks that count objects are stored in the version, each written that often.
func (s *stage) allStored(count int, version, writes string) {
	s.Helper()
	found := s.stored()
	if len(found) != count {
		s.Errorf("%d objects are stored, want %d", len(found), count)
	}
	want := map[harness.Stored]int{{Version: version, Writes: writes}: count}
	if got := tally(found); !maps.Equal(got, want) {
		s.Errorf("stored versions and writes: %v, want %v", got, want)
	}
}

func tally(found map[string]harness.Stored) map[harness.Stored]int {
	counts := map[harness.Stored]int{}
	for _, object := range found {
		counts[object]++
	}
	return counts
}

// allVersion checks that every object is stored in the version.
func (s *stage) allVersion(version string) {
	s.Helper()
	for name, object := range s.stored() {
		if object.Version != version {
			s.Errorf("%s is stored as %s, want %s", name, object.Version, version)
		}
	}
}

// event waits for an event on the definition whose note has the text.
func (s *stage) event(reason, text string) {
	s.Helper()
	s.eventually(fmt.Sprintf("the event %s: %s", reason, text), func() bool {
		var list eventsv1.EventList
		s.must(s.List(s.Context(), &list))
		for _, e := range list.Items {
			if e.Reason == reason && e.Regarding.Kind == "CustomResourceDefinition" && e.Regarding.Name == crdName && strings.Contains(e.Note, text) {
				return true
			}
		}
		return false
	})
}

// objects returns all scalers as the old version shows them, without their resourceVersions.
func (s *stage) objects() map[string]any {
	s.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kyklos.io/" + oldOne)
	list.SetKind("TimeWindowScalerList")
	s.must(s.List(s.Context(), list))
	all := map[string]any{}
	for _, object := range list.Items {
		unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
		all[object.GetName()] = object.Object
	}
	return all
}
