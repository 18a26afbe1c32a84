package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// maxNamed is how many running workspaces are named.
const maxNamed = 3

// others are the owner's running workspaces, always in the same order: those beside this one first, for whoever
// reads this can mostly stop them.
func (f Facts) others() []types.NamespacedName {
	beside := func(name types.NamespacedName) int {
		if name.Namespace == f.Workspace.Namespace {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(slices.Values(f.Running), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(beside(a), beside(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// running names them after a colon; "" if nobody knows of any.
func (f Facts) running() string {
	others := f.others()
	var names []string
	for _, other := range others[:min(maxNamed, len(others))] {
		if other.Namespace != f.Workspace.Namespace {
			names = append(names, fmt.Sprintf("%s in namespace %s", other.Name, other.Namespace))
		} else {
			names = append(names, other.Name)
		}
	}
	if more := len(others) - len(names); more > 0 {
		names[len(names)-1] += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// runningOne is the one that a command is shown for.
func (f Facts) runningOne() types.NamespacedName {
	if others := f.others(); len(others) > 0 {
		return others[0]
	}
	return types.NamespacedName{Namespace: f.Workspace.Namespace, Name: "NAME"}
}
