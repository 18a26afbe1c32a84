package workspace

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/moverslots"
)

// writeStatus writes the planned status if it differs, and then publishes it. An operation that needs a slot begins only with
// the slot reserved. It returns the plan whose status it is, and whether it was written.
func (r *Reconciler) writeStatus(ctx context.Context, p plan) (plan, bool, error) {
	p, reserved, err := r.reserve(ctx, p)
	if err != nil {
		return p, false, err
	}
	facts := r.report(p)
	next := p.ws.DeepCopy()
	next.Status = facts.Status(p.now)
	if equality.Semantic.DeepEqual(p.ws.Status, next.Status) {
		r.queue(p)
		return p, false, nil
	}
	if err := r.Client.Status().Update(ctx, next); err != nil {
		if reserved {
			r.reservations.release(p.ws.UID)
		}
		return p, false, err
	}
	r.publish(ctx, p, facts)
	return p, true, nil
}

// reserve takes the slot of an operation that the plan starts. If another Workspace has just taken the last one, the engine
// decides again.
func (r *Reconciler) reserve(ctx context.Context, p plan) (plan, bool, error) {
	before, after := p.slot(p.status), p.slot(p.decision.Status)
	if (!after.runs || before.runs) && (!after.moves || before.moves) {
		return p, false, nil
	}
	left, ok, err := r.reservations.reserve(ctx, p.ws, p.decision.Status, p.now)
	if err != nil || ok {
		return p, ok, err
	}
	p.available = left
	p, err = r.plan(ctx, p.observation, p.answers)
	return p, false, err
}

// report returns what the status, its messages and the events are made of. It is pure.
func (r *Reconciler) report(p plan) message.Facts {
	limits := r.reservations.limits
	facts := message.Facts{
		Workspace: p.ws, Decision: p.decision, Observed: p.view, Store: cmp.Or(p.archive.Store, p.newest.Store), Running: p.available.running,
		Limits:  message.Limits{Owner: limits.PerOwner, Namespace: limits.PerNamespace, All: limits.All, Movers: limits.Movers, Kept: moverslots.Kept(limits.Movers)},
		Service: p.service, Served: objects.Served(p.ws, p.pod),
		Newest:   p.newest,
		Outdated: p.pod != nil && objects.Ours(p.ws, p.pod) && objects.Outdated(p.ws, p.pod),
	}
	if p.pod != nil && objects.Ours(p.ws, p.pod) {
		facts.Watcher, facts.Watches = objects.Watcher(p.ws, p.pod)
	}
	if p.storeAway() {
		facts.Cause = store.Cause(p.err)
	}
	// Only a new error has details: their wording varies, and a status at rest must not.
	if p.decision.Status.Error != p.status.Error || p.decision.Code == lifecycle.CodeNotAdopted && p.err != nil {
		facts.Detail = p.detail()
	}
	return facts
}

// storeAway reports whether the store did not answer in this pass, and that is no failure of an attempt.
func (p plan) storeAway() bool {
	away := func(verdict lifecycle.Verdict) bool {
		return verdict == lifecycle.StoreUnreachable || verdict == lifecycle.NotConfigured
	}
	return p.err != nil && p.decision.Status.Error == p.status.Error && (away(p.newest.Verdict) || away(p.archive.Verdict))
}

// publish follows the write of a status: slots, log, events and metrics.
func (r *Reconciler) publish(ctx context.Context, p plan, facts message.Facts) {
	before, after := p.status, p.decision.Status
	held, holds := p.slot(before), p.slot(after)
	if moved := held.moves || before.Operation.JobName != ""; held.runs && !holds.runs || moved && !holds.moves {
		r.reservations.release(p.ws.UID)
	}
	r.queue(p)
	if before.Operation.Type != after.Operation.Type || before.Phase != after.Phase {
		log.FromContext(ctx).Info("Workspace changed", "rule", p.decision.Rule, "phase", after.Phase, "operation", after.Operation.Type,
			"attempt", after.Operation.Attempt, "code", p.decision.Code)
	}
	r.Events.Publish(p.ws, p.now, append(facts.Events(), facts.ServiceEvents()...)...)
	p.count()
}

// queue adds a Workspace that waits for a slot to the queue.
func (r *Reconciler) queue(p plan) {
	r.reservations.awaitMover(p)
	switch p.decision.Code {
	case lifecycle.CodeOwnerLimit, lifecycle.CodeNamespaceLimit, lifecycle.CodeAllLimit:
		r.reservations.queue(client.ObjectKeyFromObject(p.ws))
	}
}

// setGauges updates the gauges of the Workspace.
func (r *Reconciler) setGauges(p plan, wrote bool) {
	current := p.status
	if wrote {
		current = p.decision.Status
	}
	metrics.RecordWorkspace(client.ObjectKeyFromObject(p.ws), metrics.Workspace{
		State: string(statusconv.Display(current)), ArchiveBytes: current.Archive.Size, Moving: p.slot(current).moves,
	})
}

// count updates the counters after a status was written.
func (p plan) count() {
	before, after := p.status, p.decision.Status
	was, is := before.Operation, after.Operation
	if is.Type != lifecycle.None && (is.Attempt != was.Attempt || is.Type != was.Type) && is.Failed == "" {
		metrics.RecordWorkspaceAttempt(string(is.Type))
	}
	if after.Error != before.Error && after.Error.Reason != "" && (was.Failed == "" || after.Error.Reason != was.Failed) {
		metrics.RecordWorkspaceFailure(string(after.Error.Operation), string(after.Error.Reason), was.Failures.Count(after.Error.Reason) == 0)
	}
	if was.ID == "" || is.Type == was.Type {
		return
	}
	result := metrics.OperationCompleted
	switch {
	case after.Phase == lifecycle.Failed:
		result = metrics.OperationFailed
	case p.decision.Code != lifecycle.CodeFinished:
		result = metrics.OperationCancelled
	}
	metrics.RecordWorkspaceOperation(string(was.Type), result, p.now.Sub(was.StartedAt).Seconds())
}
