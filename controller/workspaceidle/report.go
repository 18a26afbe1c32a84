package workspaceidle

import (
	"context"
	"hash/fnv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
)

// retry follows a write that was refused because the Workspace had changed.
const retry = 5 * time.Second

// lookAgain is how often a Lease is looked for that did not exist, if nothing else tells whether the Workspace is used.
const lookAgain = 10 * time.Minute

// report is what follows from a pass.
type report struct {
	// lowered is the new desired state, "" if there is none; event is about it.
	lowered v1alpha1.DesiredState
	event   events.Event
	changed error
	result  reconcile.Result
}

func makeReport(obs observation, next plan, done outcome) report {
	switch {
	case done.changed != nil:
		return report{changed: done.changed, result: reconcile.Result{RequeueAfter: retry}}
	case next.untold:
		return report{result: reconcile.Result{RequeueAfter: lookAgain + jitter(string(obs.workspace.UID))}}
	case !done.lowered:
		return report{result: reconcile.Result{RequeueAfter: requeueAfter(string(obs.workspace.UID), next.dueAt, obs.idle.Now)}}
	}
	ttl := obs.idle.StandbyTTL
	if obs.idle.Desired == lifecycle.Standby {
		ttl = obs.idle.ArchiveTTL
	}
	// The watch triggers the next pass.
	entered := obs.idle.Status.Phase == obs.idle.Desired
	return report{lowered: next.desired, event: events.EmitWorkspaceIdle(string(next.desired), entered, obs.idle.Since(), obs.lastActivity, ttl)}
}

// publish logs the report and publishes its event and metric.
func (r *Reconciler) publish(ctx context.Context, obs observation, rep report) {
	logger := log.FromContext(ctx)
	if rep.changed != nil {
		logger.V(1).Info("The Workspace has changed; retrying", "reason", rep.changed.Error())
	}
	if rep.lowered == "" {
		return
	}
	metrics.RecordWorkspaceIdle(string(rep.lowered))
	r.Events.Publish(obs.workspace, obs.idle.Now, rep.event)
	logger.Info(rep.event.Note, "from", obs.idle.Desired, "to", rep.lowered)
}

// requeueAfter is the time until dueAt, but at most about a minute, since clocks are set; 0 if no time runs.
func requeueAfter(uid string, dueAt, now time.Time) time.Duration {
	if dueAt.IsZero() {
		return 0
	}
	return min(dueAt.Sub(now), lifecycle.Poll+jitter(uid))
}

// jitter spreads the passes of Workspaces over a tenth of the interval, each always by the same.
func jitter(uid string) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid))
	return time.Duration(hash.Sum32()) % (lifecycle.Poll / 10)
}
