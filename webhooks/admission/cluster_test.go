package admission

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// cluster is what the validator can read.
type cluster struct {
	objects []client.Object
	broken  interceptor.Funcs
	// further are the kinds besides the built-in ones: what Resolve returns, by kind.
	further map[string]resolved
	// denied are verbs that Kyklos may not do with objects of further kinds, and janeLacks what the user may not: "VERB RESOURCE".
	denied, janeLacks []string
	// unchecked: schedules are the permission to scale.
	unchecked bool
	// noReviews is why nobody says what the user may.
	noReviews error
	// apis is the answer to whether external metrics are served.
	apis error
	// namespaces are those that are served; none means all.
	namespaces []string
}

func (c cluster) validator(t *testing.T) *admission.Webhook {
	s := scheme(t)
	reader := fake.NewClientBuilder().WithScheme(s).WithObjects(c.objects...).WithInterceptorFuncs(c.broken).
		WithIndex(&v1beta1.TimeWindowScaler{}, targetkind.NameField, targetkind.IndexName).Build()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return admission.WithValidator(s, newTimeWindowScalerValidator(factReader{cached: reader, live: reader, reviews: c.reviews(), kinds: c, apis: c, namespaces: c.namespaces, checkRequester: !c.unchecked}, clocktesting.NewFakePassiveClock(now)))
}

// resolved is the result of a targetkind.Resolver.
type resolved struct {
	kind targetkind.Kind
	err  error
}

func (c cluster) Resolve(_ context.Context, ref v1beta1.TargetRef) (targetkind.Kind, error) {
	if kind, ok := targetkind.BuiltIn(ref); ok {
		return kind, nil
	}
	answer := c.further[ref.Kind]
	return answer.kind, answer.err
}

func (c cluster) ServerResourcesForGroupVersionWithContext(context.Context, string) (*metav1.APIResourceList, error) {
	return nil, c.apis
}

func (c cluster) reviews() reviews {
	return reviews{denied: c.denied, janeLacks: c.janeLacks, err: c.noReviews}
}

// reviews answers access reviews, for Kyklos and for jane.
type reviews struct {
	client.Writer
	denied, janeLacks []string
	err               error
}

func (r reviews) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	switch review := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		review.Status.Allowed = !slices.Contains(r.denied, review.Spec.ResourceAttributes.Verb)
	case *authorizationv1.LocalSubjectAccessReview:
		spec, asked := review.Spec, review.Spec.ResourceAttributes
		right := targetkind.Right{GroupVersionResource: schema.GroupVersionResource{Group: asked.Group, Version: asked.Version, Resource: asked.Resource}, Subresource: asked.Subresource}
		isJane := spec.User == jane.Username && spec.UID == jane.UID && slices.Equal(spec.Groups, jane.Groups) && len(spec.Extra["scopes"]) == 2
		review.Status.Allowed = isJane && review.Namespace == "shop" && asked.Namespace == "shop" && !slices.Contains(r.janeLacks, asked.Verb+" "+right.On())
		return r.err
	default:
		return errors.New("an unexpected review")
	}
	return nil
}
