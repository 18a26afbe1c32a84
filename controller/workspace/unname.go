package workspace

import (
	"cmp"
	"context"
	"errors"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/turns"
)

// unname ends what is found by the name of a Workspace that is deleted with its home, if the action says so, and reports what stays
// in the store (W101). The deletion does not wait for a store that does not answer.
func (r *Reconciler) unname(ctx context.Context, p plan) error {
	if !p.decision.Act.Unname {
		return nil
	}
	kept, err := r.Store.Unname(ctx, storeSecret(p.ws), p.ws.Name)
	if errors.Is(err, turns.ErrBusy) || ctx.Err() != nil { // it was not called
		return cmp.Or(err, ctx.Err())
	}
	r.Events.Publish(p.ws, p.now, message.Unnamed(p.ws, kept, err)...)
	return nil
}
