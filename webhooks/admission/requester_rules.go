package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// RequesterFacts are what is known about the right of the requester to scale the target.
type RequesterFacts struct {
	// Lacks is the right that the schedule needs and its author does not have; nil if there is none.
	Lacks *targetkind.Right
	// User is the name of the author, if there is such a right.
	User string
	// Unknown is why the right could not be reviewed; nil if it was.
	Unknown error
}

// checkRequester refuses a schedule whose author may not scale the target: Kyklos would do it with its own rights (A10). If
// nobody answered whether the author may, it only warns: the webhooks fail open (A5), and so does this.
func (all *Findings) checkRequester(obj *v1beta1.TimeWindowScaler, path *field.Path, facts RequesterFacts) {
	name := obj.Spec.TargetRef.Name
	switch lacks := facts.Lacks; {
	case lacks != nil:
		all.refuse(RequesterPermission, Other{}, field.Forbidden(path, fmt.Sprintf(
			"user %q may not scale %s %q, so a schedule of this user must not scale it either: missing is the verb %s on %s in namespace %s; "+
				"an admin can create a role for it with: kubectl create role scale-%s -n %s --verb=%s --resource=%s --resource-name=%s",
			facts.User, obj.Spec.TargetRef.Kind, name, lacks.Verb, lacks.On(), obj.Namespace,
			name, obj.Namespace, lacks.Verb, lacks.On(), name)))
	case facts.Unknown != nil:
		all.warn(RequesterPermission, path, "accepted without checking whether you may scale %s: the API server did not say", describeTarget(obj.Spec.TargetRef))
	}
}
