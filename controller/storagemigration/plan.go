package storagemigration

import "time"

const (
	// pollInterval is how often the cluster's migrator is polled. The watch also reports its end, which
	// writes to the definition.
	pollInterval = 5 * time.Second
	// leftoverInterval is how often a request is polled that is no longer needed but still running.
	leftoverInterval = time.Minute
)

// step is what a pass does.
type step int

const (
	idle          step = iota // nothing, until the definition changes
	wait                      // nothing yet
	createRequest             // create the StorageVersionMigration
	deleteRequest             // delete it
	listPage                  // read one page of the objects
	rewriteBatch              // rewrite some of them
	retryRefused              // queue the refused objects again
	finish                    // set storedVersions
	startCleaning             // go over to managed fields of versions that are not served
	checkAgain                // list again, unless the last list had no such fields
)

type plan struct {
	step step
	// wait is the longest time until the next pass; 0 means at once, and for idle never.
	wait time.Duration
	// fallback is why Kyklos rewrites the objects itself.
	fallback string
}

// makePlan decides the next step. delay is how long a new storage version is left alone: the API server's
// instances learn of it one after the other, and must no longer store the old version.
func makePlan(obs observation, p *progress, delay time.Duration, now time.Time) plan {
	_, _, served := endpoint(obs.crd)
	switch {
	case !needed(obs.crd):
		if next := cleanUp(obs); next.step == deleteRequest || p.cleaned || !served || !established(obs.crd) {
			return next
		}
	case !served || !established(obs.crd):
		return plan{step: idle}
	}
	if left := p.since.Add(delay).Sub(now); left > 0 {
		return plan{step: wait, wait: left}
	}
	if !needed(obs.crd) {
		return nextCleaning(p, now)
	}
	fallback := p.fallback
	if fallback == "" {
		fallback = obs.unavailable
	}
	if fallback == "" {
		state, why := evaluate(obs.svm, obs.crd, now)
		switch state {
		case notRequested:
			return plan{step: createRequest, wait: pollInterval}
		case outdated:
			return plan{step: deleteRequest}
		case running:
			return plan{step: wait, wait: pollInterval}
		case finished:
			return plan{step: finish}
		}
		fallback = why
	}
	next := nextRewrite(p, now)
	next.fallback = fallback
	return next
}

// nextCleaning is the next step while Kyklos looks for managed fields of versions that are not served.
func nextCleaning(p *progress, now time.Time) plan {
	if !p.cleaning {
		return plan{step: startCleaning}
	}
	next := nextRewrite(p, now)
	if next.step == finish {
		next.step = checkAgain
	}
	return next
}

// nextRewrite is the next step while Kyklos rewrites the objects itself.
func nextRewrite(p *progress, now time.Time) plan {
	switch {
	case !p.listed:
		return plan{step: listPage}
	case len(p.left) > 0:
		return plan{step: rewriteBatch}
	case len(p.refused) == 0:
		return plan{step: finish}
	}
	if left := p.retryAt.Sub(now); left > 0 {
		return plan{step: wait, wait: left}
	}
	return plan{step: retryRefused}
}

// cleanUp deletes Kyklos's request when it is no longer needed.
func cleanUp(obs observation) plan {
	switch {
	case obs.svm == nil || obs.svm.Annotations[goalAnnotation] == "":
		return plan{step: idle}
	case deletable(obs.svm):
		return plan{step: deleteRequest}
	}
	return plan{step: wait, wait: leftoverInterval}
}
