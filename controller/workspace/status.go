package workspace

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/internal/lifecycle"
)

// writeStatus writes what was decided on what was read, and tells of it. A status that would not change
// is not written. A claim is written with its slot taken.
func (p *pass) writeStatus(ctx context.Context) error {
	claims := p.takesSlot()
	if claims {
		full, ok, err := p.gate.enter(ctx, p.ws, &p.decision.Status, p.now)
		if err != nil {
			return err
		}
		if !ok { // somebody claimed the last slot since the look
			p.limits, claims = full, false
			if err := p.decide(ctx); err != nil {
				return err
			}
		}
	}
	next := p.ws.DeepCopy()
	next.Status = p.facts().Status(p.now)
	if equality.Semantic.DeepEqual(p.ws.Status, next.Status) {
		p.queueUp()
		return nil
	}
	if err := p.Client.Status().Update(ctx, next); err != nil {
		if claims {
			p.gate.leave(p.ws.UID)
		}
		return err
	}
	p.wrote = true
	p.publish(ctx)
	return nil
}

// takesSlot reports whether the decision claims an operation that others may leave no room for.
func (p *pass) takesSlot() bool {
	before, after := slotOf(p.ws, &p.status, p.now), slotOf(p.ws, &p.decision.Status, p.now)
	return after.runs && !before.runs || after.moves && !before.moves
}

// publish tells of a write that has happened.
func (p *pass) publish(ctx context.Context) {
	before, after := p.status, p.decision.Status
	held, holds := slotOf(p.ws, &before, p.now), slotOf(p.ws, &after, p.now)
	if held.runs && !holds.runs || held.moves && !holds.moves {
		p.gate.leave(p.ws.UID)
	}
	p.queueUp()
	if before.Operation.Type != after.Operation.Type || before.Phase != after.Phase {
		log.FromContext(ctx).Info("Workspace", "rule", p.decision.Rule, "phase", after.Phase, "operation", after.Operation.Type,
			"attempt", after.Operation.Attempt, "why", p.decision.Code)
	}
	p.Events.Publish(p.ws, p.now, p.facts().Events()...)
	p.count()
}

// queueUp remembers who waits for a slot.
func (p *pass) queueUp() {
	switch p.decision.Code {
	case lifecycle.CodeMoversFull, lifecycle.CodeOwnerLimit, lifecycle.CodeAllLimit:
		p.gate.wait(client.ObjectKeyFromObject(p.ws))
	}
}
