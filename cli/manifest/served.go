package manifest

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// Unserved is why kind is none of those served in its group; ok is false if it is.
func Unserved(kind schema.GroupVersionKind, served []schema.GroupVersionKind) (why Mistake, ok bool) {
	names, versions, inGroup := []string{}, map[string][]string{}, false
	for _, one := range served {
		if one.Group != kind.Group {
			continue
		}
		inGroup = inGroup || one.Version == kind.Version
		if versions[one.Kind] == nil {
			names = append(names, one.Kind)
		}
		versions[one.Kind] = append(versions[one.Kind], one.Version)
	}
	isMeant := func(name string) bool { return strings.EqualFold(name, strings.TrimSuffix(kind.Kind, "s")) }
	slices.Sort(names)
	switch i := slices.IndexFunc(names, isMeant); {
	case slices.Contains(versions[kind.Kind], kind.Version):
		return Mistake{}, false
	case versions[kind.Kind] != nil:
		subject := kind.Kind
		if !inGroup {
			subject = kind.Group
		}
		return Mistake{"apiVersion", fmt.Sprintf("%s has no version %s: use %s/%s", subject, kind.Version, kind.Group, newest(versions[kind.Kind]))}, true
	case i >= 0:
		return Mistake{"kind", fmt.Sprintf("%s has no kind %s: use %s", kind.Group, kind.Kind, names[i])}, true
	}
	return Mistake{"kind", fmt.Sprintf("%s has no kind %s: use %s", kind.Group, kind.Kind, strings.Join(names, " or "))}, true
}

// Misnamed is why an object is not of one of the versions of a kind, although it is meant to be; ok is false for other objects.
func (o *Object) Misnamed(versions []schema.GroupVersionKind) (why Mistake, ok bool) {
	kind := o.GroupVersionKind()
	if kind.Group != versions[0].Group || !strings.EqualFold(strings.TrimSuffix(kind.Kind, "s"), versions[0].Kind) {
		return Mistake{}, false
	}
	return Unserved(kind, versions)
}

func newest(versions []string) string {
	return slices.MaxFunc(versions, apiversion.CompareKubeAwareVersionStrings)
}
