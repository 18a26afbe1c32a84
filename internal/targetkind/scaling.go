package targetkind

import "k8s.io/apimachinery/pkg/runtime/schema"

// Right is a right on one object: a verb on a resource and, if it is not empty, its subresource.
type Right struct {
	schema.GroupVersionResource
	Subresource, Verb string
}

// On is what the verb is on, as kubectl names it, such as deployments.apps/scale.
func (r Right) On() string {
	if r.Subresource == "" {
		return r.GroupResource().String()
	}
	return r.GroupResource().String() + "/" + r.Subresource
}

// Scaling returns the rights of which one suffices to scale an object of the kind. The first is what the manager uses;
// whoever has the second one can write the count in the object itself.
func (k Kind) Scaling() []Right {
	whole := Right{k.GroupVersionResource(), "", "patch"}
	if known[k].ownSpec {
		return []Right{whole}
	}
	return []Right{{k.GroupVersionResource(), "scale", "patch"}, whole}
}
