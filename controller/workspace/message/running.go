package message

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed is how many running workspaces are named.
const maxNamed = 3

// others are the owner's running workspaces in this namespace, by name. Those elsewhere are not named: an owner is
// any text, and whoever may write it here may not look there.
func (f Facts) others() (names []string) {
	for _, other := range f.Running {
		if other.Namespace == f.Workspace.Namespace {
			names = append(names, other.Name)
		}
	}
	slices.Sort(names)
	return names
}

// running names them after a colon, and counts the rest; "" if nobody knows of any.
func (f Facts) running() string {
	others := f.others()
	names := slices.Clone(others[:min(maxNamed, len(others))])
	if more := len(others) - len(names); more > 0 {
		names[len(names)-1] += fmt.Sprintf(" and %d more", more)
	}
	if elsewhere := len(f.Running) - len(others); elsewhere > 0 {
		names = append(names, fmt.Sprintf("%d in other namespaces", elsewhere))
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// stopOne says how one of them can be stopped.
func (f Facts) stopOne() string {
	name := "NAME"
	switch others := f.others(); {
	case len(others) > 0:
		name = others[0]
	case len(f.Running) > 0:
		return "Stop one of them, in its namespace."
	}
	return "Stop one: `kubectl patch workspace -n {namespace} " + name + " --type=merge -p '{\"spec\":{\"desiredState\":\"STANDBY\"}}'`."
}
