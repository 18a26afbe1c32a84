package workspace

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/lifecycle"
)

// maxRounds limits the questions of one plan: the API server, all Pods, the store under two keys, the newest archive, and
// some to spare.
const maxRounds = 8

// errRounds: the engine repeats the same question.
var errRounds = errors.New("no decision after 8 rounds (bug in Kyklos)")

// plan is a decision and everything it is based on.
type plan struct {
	observation
	answers
	decision lifecycle.Decision
}

// answers are the answers to the engine's questions in one pass.
type answers struct {
	archive, newest lifecycle.ArchiveView
	// rejected is how the last action failed.
	rejected lifecycle.Rejection
	// accepted: the API server accepts the Pod of the mover.
	accepted bool
	// err is the last error of a store or a write, for the message.
	err error
	// service is what became of the Service. No decision depends on it.
	service message.Service
}

// plan asks the engine for the next step, and answers its questions until it decides.
func (r *Reconciler) plan(ctx context.Context, o observation, a answers) (plan, error) {
	newID := uuid.NewString()
	for range maxRounds {
		decision := lifecycle.Decide(lifecycle.Input{
			Now: o.now, NewID: newID, Workspace: o.spec, Status: o.status, Observed: o.view,
			Archive: a.archive, Newest: a.newest, Rejected: a.rejected, MoverAccepted: a.accepted, Limits: o.available.Limits,
		})
		var err error
		switch act := decision.Act; act.Kind {
		case lifecycle.ActReadLive:
			o, err = r.observe(ctx, o.ws, live, o.now)
		case lifecycle.ActReadPods:
			o, err = r.observe(ctx, o.ws, livePods, o.now)
		case lifecycle.ActVerify:
			a.archive, a.err = r.Store.Verify(ctx, storeSecret(o.ws), o.ws.Name, act.Key, o.now)
		case lifecycle.ActFindArchive:
			a.newest, a.err = r.Store.Find(ctx, storeSecret(o.ws), wanted(o.ws), o.now)
		case lifecycle.ActTryMover:
			a, err = r.askForMover(ctx, plan{o, a, decision})
		default:
			return plan{o, a, decision}, nil
		}
		if errors.Is(a.err, turns.ErrBusy) || ctx.Err() != nil { // it is no answer
			err = cmp.Or(err, a.err, ctx.Err())
		}
		if err != nil {
			return plan{}, err
		}
	}
	return plan{}, errRounds
}

// wanted is the archive that a Workspace looks for.
func wanted(ws *v1alpha1.Workspace) store.Wanted {
	return store.Wanted{Workspace: client.ObjectKeyFromObject(ws), UID: string(ws.UID), From: ws.Spec.RestoreFrom}
}

// storeSecret is the Secret that describes the Workspace's store.
func storeSecret(ws *v1alpha1.Workspace) types.NamespacedName {
	key := types.NamespacedName{Namespace: ws.Namespace}
	if ws.Spec.Archive != nil {
		key.Name = ws.Spec.Archive.StoreRef.Name
	}
	return key
}
