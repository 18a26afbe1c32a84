package targetkind_test

import (
	"context"
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/targetkind"
)

// authorizer answers access reviews; all others of its methods would panic.
type authorizer struct {
	client.Writer
	allows func(authorizationv1.ResourceAttributes) bool
	asked  int
	err    error
}

func (a *authorizer) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	review := obj.(*authorizationv1.SelfSubjectAccessReview)
	a.asked++
	review.Status.Allowed = a.allows(*review.Spec.ResourceAttributes)
	return a.err
}

// Each verb that scaling takes is asked about: without any one of them the answer is no.
func TestEachVerbCounts(t *testing.T) {
	all := func(authorizationv1.ResourceAttributes) bool { return true }
	if err := targetkind.Permitted(t.Context(), &authorizer{allows: all}, rollouts(), "shop"); err != nil {
		t.Errorf("with all permissions: %v", err)
	}
	for _, missing := range []struct{ subresource, verb string }{
		{"", "get"}, {"", "list"}, {"", "watch"}, {"scale", "get"}, {"scale", "patch"},
	} {
		allows := func(a authorizationv1.ResourceAttributes) bool {
			if a.Group != "argoproj.io" || a.Resource != "rollouts" || a.Namespace != "shop" {
				t.Errorf("asked about %+v", a)
			}
			return a.Subresource != missing.subresource || a.Verb != missing.verb
		}
		err := targetkind.Permitted(t.Context(), &authorizer{allows: allows}, rollouts(), "shop")
		var forbidden *targetkind.ForbiddenError
		if !errors.As(err, &forbidden) {
			t.Errorf("without %v: %v", missing, err)
		}
	}
}

// A Workspace is patched itself: it has no scale subresource to ask about.
func TestWorkspacesArePatched(t *testing.T) {
	for _, missing := range []string{"get", "list", "watch", "patch", ""} {
		allows := func(a authorizationv1.ResourceAttributes) bool {
			if a.Group != "kyklos.io" || a.Version != "v1alpha1" || a.Resource != "workspaces" || a.Subresource != "" {
				t.Errorf("asked about %+v", a)
			}
			return a.Verb != missing
		}
		err := targetkind.Permitted(t.Context(), &authorizer{allows: allows}, targetkind.Workspace, "shop")
		if forbidden := (*targetkind.ForbiddenError)(nil); errors.As(err, &forbidden) != (missing != "") {
			t.Errorf("without %q: %v", missing, err)
		}
	}
	golden.NewMessages(t).Add("no permission", (&targetkind.ForbiddenError{Kind: targetkind.Workspace}).Error())
}

func TestBuiltInKindsAreNotAskedAbout(t *testing.T) {
	silent := &authorizer{allows: func(authorizationv1.ResourceAttributes) bool { return false }}
	for _, kind := range []targetkind.Kind{targetkind.Deployment, targetkind.StatefulSet, targetkind.DaemonSet} {
		if err := targetkind.Permitted(t.Context(), silent, kind, ""); err != nil || silent.asked > 0 {
			t.Errorf("%s: %v after %d questions", kind.Kind, err, silent.asked)
		}
	}
}

// A failed review is not a denial.
func TestAuthorizerOutage(t *testing.T) {
	away := &authorizer{allows: func(authorizationv1.ResourceAttributes) bool { return false }, err: errors.New("away")}
	err := targetkind.Permitted(t.Context(), away, rollouts(), "")
	var forbidden *targetkind.ForbiddenError
	if err == nil || errors.As(err, &forbidden) {
		t.Errorf("got %v", err)
	}
}

// The message says what to create, and the API server's error can be unwrapped.
func TestForbiddenSaysWhatToDo(t *testing.T) {
	said := apierrors.NewForbidden(schema.GroupResource{Group: "argoproj.io", Resource: "rollouts"}, "", errors.New("no rule"))
	err := error(&targetkind.ForbiddenError{Kind: rollouts(), Err: said})
	if !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	golden.NewMessages(t).Add("no permission", err.Error())
}
