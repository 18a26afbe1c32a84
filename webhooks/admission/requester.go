package admission

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=localsubjectaccessreviews,verbs=create

// requester is the user of an admission request (A10). Its rights are reviewed in the namespace of that request and in no
// other, so that an invented request tells nothing about a namespace but the one it names.
type requester struct {
	reviews   client.Writer // nil: a program that reads with its user's own rights
	user      authenticationv1.UserInfo
	namespace string
}

// requesterOf is the user of the request in ctx; without a request it is nobody.
func requesterOf(ctx context.Context, reviews client.Writer) requester {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return requester{reviews: reviews}
	}
	return requester{reviews: reviews, user: req.UserInfo, namespace: req.Namespace}
}

// may reports whether the requester has the right. An error means that the API server did not answer.
func (r requester) may(ctx context.Context, right targetkind.Right, name string) (bool, error) {
	if r.reviews == nil {
		return true, nil
	}
	if r.user.Username == "" {
		return false, nil // no API server leaves it out
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(r.user.Extra))
	for key, values := range r.user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: r.user.Username, Groups: r.user.Groups, UID: r.user.UID, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.namespace, Verb: right.Verb, Name: name,
				Group: right.Group, Version: right.Version, Resource: right.Resource, Subresource: right.Subresource,
			},
		},
	}
	if err := r.reviews.Create(ctx, review); err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// mayKnow reports whether a finding may tell the user of the request in ctx what is read with the verb get, or list for an
// empty name. Without an answer it may not.
func mayKnow(ctx context.Context, reviews client.Writer, resource schema.GroupVersionResource, name string) bool {
	verb := "get"
	if name == "" {
		verb = "list"
	}
	allowed, err := requesterOf(ctx, reviews).may(ctx, targetkind.Right{GroupVersionResource: resource, Verb: verb}, name)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Left out a finding: could not review the user's rights", "resource", resource.Resource, "reason", err.Error())
	}
	return allowed
}

// readRequester reviews whether the requester may scale the target; unresolved is why its kind is not known.
func (r factReader) readRequester(ctx context.Context, kind targetkind.Kind, unresolved error, name string) RequesterFacts {
	if !r.checkRequester {
		return RequesterFacts{}
	}
	if unresolved != nil {
		return RequesterFacts{Unknown: unresolved}
	}
	who := requesterOf(ctx, r.reviews)
	rights := kind.Scaling()
	for _, right := range rights {
		allowed, err := who.may(ctx, right, name)
		if err != nil {
			return RequesterFacts{Unknown: err}
		}
		if allowed {
			return RequesterFacts{}
		}
	}
	return RequesterFacts{Lacks: &rights[0], User: who.user.Username}
}
