package archivegc

import (
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

type plan struct {
	// claim: the store has no owner yet.
	claim bool
	lifecycle.CollectDecision
}

// makePlan decides what to delete. known is what the ledger says about the store; approved is how many archives may be
// deleted at once.
func makePlan(obs observation, known entry, interval time.Duration, approved int) plan {
	keys := make([]string, len(obs.archives))
	for i := range obs.archives {
		keys[i] = obs.archives[i].Key
	}
	return plan{claim: !obs.owned, CollectDecision: lifecycle.Collect(lifecycle.CollectInput{
		Now: obs.now, Objects: obs.archives, Keepers: obs.references, Synced: true, Allowed: approved,
		FirstSeen: known.firstSeen(keys, interval, obs.now),
	})}
}
