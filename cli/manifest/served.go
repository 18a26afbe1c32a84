package manifest

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// Unserved is why kind is none of those served in its group: the field that is wrong, and what is right. The reason is "" if kind is
// served.
func Unserved(kind schema.GroupVersionKind, served []schema.GroupVersionKind) (field, reason string) {
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
		return "", ""
	case versions[kind.Kind] != nil:
		subject := kind.Kind
		if !inGroup {
			subject = kind.Group
		}
		return "apiVersion", fmt.Sprintf("%s has no version %s: use %s/%s", subject, kind.Version, kind.Group, newest(versions[kind.Kind]))
	case i >= 0:
		return "kind", fmt.Sprintf("%s has no kind %s: use %s", kind.Group, kind.Kind, names[i])
	}
	return "kind", fmt.Sprintf("%s has no kind %s: use %s", kind.Group, kind.Kind, strings.Join(names, " or "))
}

func newest(versions []string) string {
	return slices.MaxFunc(versions, apiversion.CompareKubeAwareVersionStrings)
}
