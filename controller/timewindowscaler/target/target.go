// Package target knows the kinds of targets: how each is read and written, when it counts as it should be,
// and how conditions and events describe it. One file holds all about one kind; see kinds.
package target

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// FieldManager is the name under which Kyklos owns what it writes.
const FieldManager = targetkind.FieldManager

// Desired is what the schedule wants of a target.
type Desired struct {
	Replicas int32
}

// Kind is one kind of targets: a Cached or a Watched one. Implementations hold no state.
type Kind interface {
	// Write makes the target that was seen ask for what is desired, by one PATCH with the
	// resourceVersion seen, and returns the target as the API server stored it (B9).
	Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error)
	// Limit caps a replica count at what the kind distinguishes.
	Limit(replicas int32) int32
	// Decide compares the target with what is desired. It is pure.
	Decide(in Input) Decision
	// GraceMessages says what a grace period delays, "" if that is not worth an event, and what happens
	// instead if it is cancelled.
	GraceMessages(delayed, kept Desired) (before, instead string)
	// Warning describes counts in a valid spec that mean the same to this kind; "" if there are none.
	Warning(spec *v1beta1.TimeWindowScalerSpec) string
}

// Cached is a Kind whose objects the manager's cache holds.
type Cached interface {
	Kind
	// Object returns an empty object of the kind.
	Object() client.Object
	// Strip reduces an object to what FromObject needs, to save memory in the cache.
	Strip(obj any) (any, error)
	// FromObject returns the target that an object is.
	FromObject(object client.Object) Target
}

// Watched is a Kind whose objects are watched by their metadata. Each change costs one GET.
type Watched interface {
	Kind
	// Fetched returns the target for the answer to that GET, of the object or of its subresource.
	Fetched(metadata *metav1.PartialObjectMetadata, object *unstructured.Unstructured, err error) (Target, error)
	// Path says what is read and written: the kind, and "scale" for its scale subresource, else nothing.
	Path() (gvk schema.GroupVersionKind, subresources []string)
}

// Target is one target as it was read, or as the API server returned it after a write.
type Target interface {
	// Base returns what all kinds have.
	Base() *Common
	// AsksFor reports whether the target's spec is as desired; if not, it has to be written.
	AsksFor(want Desired) bool
	// Has reports whether the target has arrived at what is desired (B4).
	Has(want Desired) bool
	// Distance is how far the target is from what is desired, 0 or more. Once it has arrived, more pods than
	// desired do not count: they are a rollout's.
	Distance(want Desired, arrived bool) int32
	// Describe returns the phrases for conditions and events.
	Describe(want Desired) Description
	// ManagedFields lists the paths of what Kyklos writes in the managed fields, the most specific first.
	ManagedFields() [][]string
}

// Common is what all kinds of targets have.
type Common struct {
	UID             types.UID
	ResourceVersion string
	// Spec is the count that the spec asks for, Observed how many replicas there are. Kinds without a
	// count have 0 if the spec asks them to stop.
	Spec, Observed int32
	// Ready counts for metrics of type Value only, and does not trigger a reconciliation. Where only
	// the scale is known, all observed replicas count as ready.
	Ready int32
}

// Base implements Target for the types that embed Common.
func (c *Common) Base() *Common { return c }

// Description holds the phrases that conditions and events are made of.
type Description struct {
	// Reached and Pending follow "Target": "has the desired 10 replicas".
	Reached, Pending string
	// Replacing follows "Target" once it has arrived and its own controller changes its pods, as in a rollout.
	// It is "" for kinds that then are not as desired.
	Replacing string
	// Stays follows "Target" that others changed: "stays at 5 replicas".
	Stays string
	// Now follows "Target" and precedes "but desired is": "has 5 replicas".
	Now string
	// Changing starts a sentence: "Scaling the target to 10 replicas".
	Changing string
	// Changed describes a write: "scaled up from 2 to 10 replicas". Up is its direction, and Action its
	// name in the event.
	Changed, Action string
	Up              bool
	// Current is what the spec asks for, and Desired what it should ask for, such as "10" or "running".
	Current, Desired string
}
