// Package ownwrites holds the Workspace's reconciler to what is its own: the status and the finalizer of
// a Workspace. All else of it is only ever read (W2).
package ownwrites

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// Guard returns c with every other write of a Workspace refused. fault is told of each, for the
// reconciler may not care about an error.
func Guard(c client.WithWatch, fault func(what string)) client.WithWatch {
	g := guard{fault}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return g.unless(object, "create", func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return g.unless(object, "update", func() error { return c.Update(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return g.unless(object, "delete", func() error { return c.Delete(ctx, object, options...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteAllOfOption) error {
			return g.unless(object, "deletecollection", func() error { return c.DeleteAllOf(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			what, err := strange(object, patch)
			if err != nil || what == "" {
				return errOr(err, func() error { return c.Patch(ctx, object, patch, options...) })
			}
			return g.unless(object, "patch "+what+" of", func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption) error {
			if sub == "status" {
				return c.SubResource(sub).Update(ctx, object, options...)
			}
			return g.unless(object, "update "+sub+" of", func() error { return c.SubResource(sub).Update(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			// A patch could pass by the resourceVersion that was read (W32).
			return g.unless(object, "patch "+sub+" of", func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
	})
}

type guard struct{ fault func(what string) }

func (g guard) unless(object client.Object, verb string, write func() error) error {
	if _, ok := object.(*v1alpha1.Workspace); !ok {
		return write()
	}
	what := fmt.Sprintf("%s the Workspace %s: it is the user's", verb, object.GetName())
	g.fault(what)
	return fmt.Errorf("%s", what)
}

func errOr(err error, write func() error) error {
	if err != nil {
		return err
	}
	return write()
}

// strange names what a patch writes beside metadata.finalizers. A resourceVersion is no write but a
// condition, and there has to be one.
func strange(object client.Object, patch client.Patch) (string, error) {
	if _, ok := object.(*v1alpha1.Workspace); !ok {
		return "", nil
	}
	data, err := patch.Data(object)
	if err != nil {
		return "", err
	}
	var fields struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(data, &all) != nil {
		return string(data), nil // no merge patch
	}
	if _, read := fields.Metadata["resourceVersion"]; !read {
		return "without a resourceVersion", nil
	}
	names := slices.Sorted(maps.Keys(fields.Metadata))
	if len(all) == 1 && slices.Equal(names, []string{"finalizers", "resourceVersion"}) {
		return "", nil
	}
	return string(data), nil
}
