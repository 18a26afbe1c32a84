package targetkind

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AggregationLabel on a ClusterRole, with the value "true", grants its rules to the manager, so that Kyklos
// may scale further kinds.
const AggregationLabel = "kyklos.io/aggregate-to-manager"

// UnknownError means that the cluster does not have the kind.
type UnknownError struct {
	Kind schema.GroupVersionKind
	// Elsewhere are kinds of this name that could be scaled, the preferred version of a group first,
	// including those that differ only in upper and lower case.
	Elsewhere []schema.GroupVersionKind
}

func (e *UnknownError) Error() string {
	missing := fmt.Sprintf("%s has no %s", e.Kind.GroupVersion(), e.Kind.Kind)
	if len(e.Elsewhere) == 0 {
		return missing + ", and nothing else in this cluster has one that can be scaled: install what brings this kind, or correct apiVersion and kind"
	}
	meant := e.Elsewhere[0]
	if meant.Kind != e.Kind.Kind {
		return fmt.Sprintf("%s; %s has %s: correct kind, and apiVersion with it", missing, meant.GroupVersion(), meant.Kind)
	}
	return fmt.Sprintf("%s; %s has: set apiVersion to %s", missing, meant.GroupVersion(), meant.GroupVersion())
}

// NotScalableError means that the cluster has the kind, but that it cannot be a target.
type NotScalableError struct {
	Kind schema.GroupVersionKind
	// ClusterScoped is true if its objects have no namespace; otherwise the scale subresource is missing.
	ClusterScoped bool
}

func (e *NotScalableError) Error() string {
	why := "it has no scale subresource, through which a replica count is set"
	if e.ClusterScoped {
		why = "its objects are in no namespace, and a target is in the TimeWindowScaler's own"
	}
	return fmt.Sprintf("%s of %s cannot be scaled: %s", e.Kind.Kind, e.Kind.GroupVersion(), why)
}

// ForbiddenError means that the manager lacks a permission for the kind, and says how to grant it. Its text
// is the same at every attempt.
type ForbiddenError struct {
	Kind Kind
	// Flag is the manager's flag that leaves the kind out; empty if nothing does, and the permission alone is missing.
	Flag string
	// Err is the API server's answer; nil if only the permission was reviewed.
	Err error
}

func (e *ForbiddenError) Error() string {
	if e.Flag != "" {
		return fmt.Sprintf("this Kyklos does not serve %ss here (flag %s)", e.Kind.Kind, e.Flag)
	}
	resource := e.Kind.Resource
	onObjects, onScale := verbs(e.Kind)
	rules := fmt.Sprintf("%s on %s", enumerate(onObjects), resource)
	if len(onScale) > 0 {
		rules += fmt.Sprintf(", and %s on %s/scale", enumerate(onScale), resource)
	}
	return fmt.Sprintf("Kyklos has no permission to scale %s: create a ClusterRole with the label %s: \"true\" "+
		"that allows %s, in the API group %q",
		schema.GroupResource{Group: e.Kind.Group, Resource: resource}, AggregationLabel, rules, e.Kind.Group)
}

func (e *ForbiddenError) Unwrap() error { return e.Err }

// verbs are what the manager does with objects of a further kind, and with their scale subresource.
func verbs(kind Kind) (onObjects, onScale []string) {
	if known[kind].ownSpec {
		return []string{"get", "list", "watch", "patch"}, nil
	}
	return []string{"get", "list", "watch"}, []string{"get", "patch"}
}

func enumerate(items []string) string {
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
