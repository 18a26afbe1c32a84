package targetkind

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Permitted returns a *ForbiddenError if the user of the writer may not scale objects of the kind in the
// namespace; "" means all namespaces. It asks the API server's authorizers (SelfSubjectAccessReview), which
// every authenticated user may; another error means that they could not be asked. Built-in kinds need no
// request.
func Permitted(ctx context.Context, reviews client.Writer, kind Kind, namespace string) error {
	if known[kind].builtIn {
		return nil
	}
	onObjects, onScale := verbs(kind)
	for subresource, verbs := range map[string][]string{"": onObjects, "scale": onScale} {
		for _, verb := range verbs {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb,
					Group: kind.Group, Version: kind.Version, Resource: kind.Resource, Subresource: subresource,
				},
			}}
			if err := reviews.Create(ctx, review); err != nil {
				return fmt.Errorf("ask whether %s of %s is allowed: %w", verb, kind.Resource, err)
			}
			if !review.Status.Allowed {
				return &ForbiddenError{Kind: kind}
			}
		}
	}
	return nil
}
