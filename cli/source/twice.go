package source

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/schedule"
)

// identity is what makes two objects the same one; versions do not matter.
type identity struct {
	schema.GroupKind
	types.NamespacedName
}

// places are where objects stand, in their order.
type places map[identity][]string

func placesOf(objects []*manifest.Object, namespace string) places {
	all := make(places)
	for _, object := range objects {
		if object.Name() != "" {
			at := identity{object.GroupVersionKind().GroupKind(), object.Key(namespace)}
			all[at] = append(all[at], object.Place())
		}
	}
	return all
}

// remarks say of a scaler and of the ConfigMap of its holidays that they are there more than once.
func (p places) remarks(s *Scaler) (all []string) {
	configMap := types.NamespacedName{Namespace: s.Namespace, Name: schedule.HolidaySource(s.Spec)}
	for _, at := range []identity{{v1beta1.GroupKind, s.Key()}, {schema.GroupKind{Kind: "ConfigMap"}, configMap}} {
		if found := p[at]; len(found) > 1 {
			all = append(all, fmt.Sprintf("%s %s is there %d times, at %s: what is applied last counts",
				at.Kind, at.NamespacedName, len(found), enumerated(found)))
		}
	}
	return all
}

// enumerated names three places at most, which a person still reads, and counts the rest.
func enumerated(places []string) string {
	if rest := len(places) - 3; rest > 0 {
		return fmt.Sprintf("%s and %d more places", strings.Join(places[:3], ", "), rest)
	}
	return strings.Join(places, " and ")
}
