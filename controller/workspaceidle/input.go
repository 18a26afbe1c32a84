package workspaceidle

import (
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// inputOf says of a Workspace what its idle timers rest on.
func inputOf(ws *v1alpha1.Workspace, lastActivity, now time.Time) lifecycle.IdleInput {
	operation := lifecycle.None
	if claimed := ws.Status.Operation; claimed != nil && claimed.Type != "" {
		operation = lifecycle.OperationType(claimed.Type)
	}
	return lifecycle.IdleInput{
		Now:     now,
		Desired: lifecycle.State(ws.Spec.DesiredState),
		Status: lifecycle.Status{
			Phase:        lifecycle.State(ws.Status.Phase),
			Operation:    lifecycle.Operation{Type: operation},
			RunningSince: timeOf(ws.Status.RunningSince),
			StandbySince: timeOf(ws.Status.StandbySince),
		},
		Pause:        ws.Spec.Pause,
		Deleting:     ws.DeletionTimestamp != nil,
		HasStore:     ws.Spec.Archive != nil,
		StandbyTTL:   ttl(ws, v1alpha1.DesiredRunning),
		ArchiveTTL:   ttl(ws, v1alpha1.DesiredStandby),
		LastActivity: lastActivity,
	}
}

// ttl is how long a Workspace may stay in a state without being used; 0 is for ever.
func ttl(ws *v1alpha1.Workspace, in v1alpha1.DesiredState) time.Duration {
	seconds := ws.Spec.StandbyTTLSeconds
	if in == v1alpha1.DesiredStandby {
		seconds = ws.Spec.ArchiveTTLSeconds
	}
	return time.Duration(seconds) * time.Second
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// wait is when to look again: when the time runs out, and every minute and up to six seconds before that,
// since clocks are set. Nothing is looked at again before the Workspace changes if no time runs.
func wait(ws *v1alpha1.Workspace, decision lifecycle.IdleDecision, now time.Time) reconcile.Result {
	if decision.DueAt.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: min(decision.DueAt.Sub(now), lifecycle.Poll+jitter(string(ws.UID)))}
}

// jitter spreads the polls of Workspaces over a tenth, each always the same.
func jitter(uid string) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid))
	return time.Duration(hash.Sum32()) % (lifecycle.Poll / 10)
}
