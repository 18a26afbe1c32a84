package workspaceidle

import (
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

type plan struct {
	// desired is the lower state to write, "" for none.
	desired v1alpha1.DesiredState
	// dueAt is when the idle time runs out; zero while none runs.
	dueAt time.Time
	// untold: no time runs, because nothing tells whether the Workspace is used.
	untold bool
}

func makePlan(obs observation) plan {
	decision := lifecycle.DecideIdle(obs.idle)
	return plan{desired: v1alpha1.DesiredState(decision.Desired), dueAt: decision.DueAt, untold: decision.Untold}
}
