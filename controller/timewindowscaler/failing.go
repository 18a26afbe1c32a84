package timewindowscaler

import (
	"time"

	"kyklos.io/kyklos/internal/events"
)

// What the reports say of requests that fail again and again.

func (p *passResult) unavailableMessage() string {
	return "The target cannot be read, so it is left alone; this is retried: " + p.obs.unavailable.Error()
}

func (p *passResult) unwatchedMessage() string {
	return "Changes of the target by others may go unnoticed: " + p.obs.unwatched.Error()
}

func (p *passResult) failedMessage() string {
	return "Scaling the target fails; this is retried: " + p.outcome.failed.Error()
}

// failureEvents announce trouble that lasts. Refusals have their own event.
func (p *passResult) failureEvents() []events.Event {
	switch {
	case p.obs.unavailable != nil:
		return []events.Event{events.EmitWarning(events.ReasonTargetUnavailable, p.unavailableMessage())}
	case p.outcome.failed != nil:
		return []events.Event{events.EmitWarning(events.ReasonScaleFailed, p.failedMessage())}
	case p.obs.unwatched != nil:
		return []events.Event{events.EmitWarning(events.ReasonTargetUnavailable, p.unwatchedMessage())}
	default:
		return nil
	}
}

// nextDue is the next change that time alone brings, or the one that is overdue.
func (p *passResult) nextDue() time.Time {
	if !p.plan.due.IsZero() && !p.outcome.scaled {
		return p.plan.due
	}
	return p.plan.wakeUp
}
