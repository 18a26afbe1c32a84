package workspace

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/record"
	"kyklos.io/kyklos/controller/workspace/words"
	"kyklos.io/kyklos/internal/lifecycle"
)

// rounds bounds how often one pass looks closer: the caches, the API server, all Pods, and the store
// under two keys, with some to spare.
const rounds = 8

// errRounds: the engine asks for the same look again and again.
var errRounds = errors.New("no decision was come to: this is a fault of Kyklos")

// pass is one look at one Workspace, and what comes of it.
type pass struct {
	*Reconciler
	now   time.Time
	newID string

	// ws, asked and status are the Workspace as it was read last, and what it says in the engine's words.
	ws     *v1alpha1.Workspace
	asked  lifecycle.Workspace
	status lifecycle.Status
	sight  sight
	seen   lifecycle.Observation

	archive  lifecycle.ArchiveView
	found    lifecycle.ArchiveView
	refused  lifecycle.Refusal
	limits   room
	decision lifecycle.Decision
	// trouble is the last error of a store or a write, for people to read.
	trouble error
	// follows: a mover is at work, and people are told how far it is.
	follows bool
	// wrote: something was written, and the next look will find another world.
	wrote bool
}

// decide asks the engine, and looks closer as long as it asks for that.
func (p *pass) decide(ctx context.Context) error {
	for range rounds {
		p.decision = lifecycle.Decide(lifecycle.Input{
			Now: p.now, NewID: p.newID, Workspace: p.asked, Status: p.status, Observed: p.seen,
			Archive: p.archive, Newest: p.found, Refused: p.refused, Limits: p.limits.Limits,
		})
		var err error
		switch act := p.decision.Act; act.Kind {
		case lifecycle.ActReadLive:
			err = p.look(ctx, live)
		case lifecycle.ActReadPods:
			err = p.look(ctx, livePods)
		case lifecycle.ActVerify:
			p.archive, p.trouble = p.Stores.Look(ctx, p.store(), act.Key, p.now)
		case lifecycle.ActFindArchive:
			p.found, p.trouble = p.Stores.Newest(ctx, p.store(), p.asked.UID, p.now)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errRounds
}

// look reads what the decision rests on. What cannot be read is told to the engine.
func (p *pass) look(ctx context.Context, d depth) error {
	if d >= live {
		read := &v1alpha1.Workspace{}
		if err := p.APIReader.Get(ctx, client.ObjectKeyFromObject(p.ws), read); err != nil {
			return err
		}
		p.ws = read
	}
	var err error
	if p.sight, err = p.observe(ctx, p.ws, d); err != nil {
		if ctx.Err() != nil {
			return err
		}
		log.FromContext(ctx).Error(err, "The Workspace's objects could not be read; they will be looked at again")
		p.seen = lifecycle.Observation{Failed: true}
	} else {
		p.seen = p.sight.view(p.ws)
	}
	p.asked = record.Spec(p.ws, p.sight.leaving)
	p.status = record.Read(p.ws)
	p.limits, err = p.gate.limits(ctx, p.ws, &p.status, p.now)
	return err
}

// carryOut does what was decided: a write of the status, or one action. A refused action is decided
// about once more, so that its failure is counted before anything else is done.
func (p *pass) carryOut(ctx context.Context) error {
	if p.decision.Act.Kind == lifecycle.ActNone {
		return p.writeStatus(ctx)
	}
	err := p.act(ctx, p.decision.Act)
	no, isRefusal := refusal(err)
	if !isRefusal {
		p.wrote = true
		return err
	}
	p.refused, p.trouble = no, err
	if again := p.decide(ctx); again != nil {
		return again
	}
	if p.decision.Act.Kind != lifecycle.ActNone {
		return err // nothing counts it; the queue's own back-off does
	}
	return p.writeStatus(ctx)
}

// facts are what is told to people.
func (p *pass) facts() words.Facts {
	facts := words.Facts{
		Workspace: p.ws, Decision: p.decision, Observed: p.seen, Store: p.archive.Store,
		Running: p.limits.running,
		Limits:  words.Limits{Owner: p.gate.options.PerOwner, All: p.gate.options.All, Movers: p.gate.options.Movers},
	}
	facts.Outdated = p.sight.pod != nil && objects.Ours(p.ws, p.sight.pod) && objects.Outdated(p.ws, p.sight.pod)
	// Details come with a new error alone: the words of others differ each time, and a status must not.
	if p.decision.Status.Error != p.status.Error {
		facts.Detail = p.detail()
	}
	return facts
}
