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

type identity struct {
	schema.GroupKind
	types.NamespacedName
}

// places are the positions of objects, in order.
type places map[identity][]string

func placesOf(objects []*manifest.Object, namespace string) places {
	all := make(places)
	for _, object := range objects {
		if object.Name() != "" {
			id := identity{object.GroupVersionKind().GroupKind(), object.Key(namespace)}
			all[id] = append(all[id], object.Place())
		}
	}
	return all
}

// duplicates are remarks about a scaler or its ConfigMap of holidays that is there more than once.
func (p places) duplicates(s *Scaler) (remarks []string) {
	configMap := types.NamespacedName{Namespace: s.Namespace, Name: schedule.HolidaySource(s.Spec)}
	for _, id := range []identity{{v1beta1.GroupKind, s.Key()}, {schema.GroupKind{Kind: "ConfigMap"}, configMap}} {
		found := p[id]
		if len(found) < 2 {
			continue
		}
		list := strings.Join(found, " and ")
		if rest := len(found) - 3; rest > 0 {
			list = fmt.Sprintf("%s and %d more places", strings.Join(found[:3], ", "), rest)
		}
		remarks = append(remarks, fmt.Sprintf("%s %s is defined %d times, at %s: the one applied last counts", id.Kind, id.NamespacedName, len(found), list))
	}
	return remarks
}
