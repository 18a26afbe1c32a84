package workspace

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// faults wraps the API server's client. It counts writes, and lets one of them fail.
type faults struct {
	writes int
	// at is the number of the write that fails, from 1; fail is its error.
	at   int
	fail error
	// lost: the write succeeds, and only its answer is lost.
	lost bool
	// log names the writes.
	log []string
	// refuse, if set, is asked about every write.
	refuse func(verb string, object client.Object) error
}

func (f *faults) write(verb string, object client.Object, do func() error) error {
	f.writes++
	f.log = append(f.log, fmt.Sprintf("%s %T %s", verb, object, object.GetName()))
	if f.refuse != nil {
		if err := f.refuse(verb, object); err != nil {
			return err
		}
	}
	if f.writes != f.at {
		return do()
	}
	if f.lost {
		_ = do()
	}
	return f.fail
}

func (f *faults) over(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: onlyOurs,
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return f.write("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return f.write("update", object, func() error { return c.Update(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return f.write("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return f.write("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption) error {
			return f.write(sub, object, func() error { return c.SubResource(sub).Update(ctx, object, options...) })
		},
	})
}
