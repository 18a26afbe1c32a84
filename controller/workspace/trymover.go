package workspace

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// errNoImage: the manager has no image for movers.
var errNoImage = errors.New("the manager does not know its own image: start it with --mover-image")

// moveOf is what the mover of the planned action does.
func (r *Reconciler) moveOf(p plan) objects.Move {
	operation := p.status.Operation.Type
	move := objects.Move{Operation: operation, Image: r.MoverImage, Limit: statusconv.Limit(p.ws, operation), Resources: r.MoverResources}
	if operation == lifecycle.Restoring {
		move.SHA256 = p.status.Archive.SHA256
	}
	return move
}

// tryMover asks the API server, by a dry run, whether it accepts the Pod of the planned mover (W57).
func (r *Reconciler) tryMover(ctx context.Context, p plan) error {
	if r.MoverImage == "" {
		return rejectedForGood(errNoImage)
	}
	return refusedMover(r.Client.Create(ctx, objects.MoverPod(p.ws, p.decision.Act, r.moveOf(p)), client.DryRunAll))
}

// refusedMover classifies the answer to the dry run. Every refusal is counted and may change: the Pod is as the spec and the
// flags say, and what refuses it is a LimitRange, a quota or a policy.
func refusedMover(err error) error {
	if apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run") {
		return nil // a webhook with side effects: nothing is known
	}
	err = classify(err)
	if refused, ok := errors.AsType[*rejection](err); ok {
		refused.Code, refused.Final = lifecycle.CodeFailedCreate, false
	}
	return err
}

// askForMover answers the engine's question about a Job without a Pod.
func (r *Reconciler) askForMover(ctx context.Context, p plan) (answers, error) {
	err := r.tryMover(ctx, p)
	refused, ok := asRejection(err)
	if ok {
		p.rejected, p.err = refused, err
		return p.answers, nil
	}
	p.accepted = true
	return p.answers, err
}
