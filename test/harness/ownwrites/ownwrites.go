// Package ownwrites checks that the Workspace's reconciler writes nothing of a Workspace but its status and finalizer
// (W2).
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

// Guard returns c with every other write of a Workspace refused. fault is called for each, because the reconciler may
// ignore an error.
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
			what, err := foreignFields(object, patch)
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
			// A patch could bypass the resourceVersion that was read (W32).
			return g.unless(object, "patch "+sub+" of", func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
	})
}

type guard struct{ fault func(what string) }

func (g guard) unless(object client.Object, verb string, write func() error) error {
	if _, ok := object.(*v1alpha1.Workspace); !ok {
		return write()
	}
	what := fmt.Sprintf("%s the Workspace %s, which belongs to the user", verb, object.GetName())
	g.fault(what)
	return fmt.Errorf("%s", what)
}

func errOr(err error, write func() error) error {
	if err != nil {
		return err
	}
	return write()
}

// foreignFields returns what a patch writes besides metadata.finalizers. A resourceVersion is a condition, and it must
// be there.
func foreignFields(object client.Object, patch client.Patch) (string, error) {
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
		return string(data), nil // not a merge patch
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
