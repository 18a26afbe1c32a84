package storagemigration

import (
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
)

const (
	// pollInterval is how often the cluster's migrator is looked at, beside the watch: at its end it
	// writes to the definition.
	pollInterval = 5 * time.Second
	// leftoverInterval is how often a request is looked at that still runs and that nobody waits for.
	leftoverInterval = time.Minute
)

// refusedRetry are the waits before what was refused is tried again: the first, second, ... time.
var refusedRetry = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute}

// item is one object to rewrite, as it was listed.
type item struct{ namespace, name, resourceVersion string }

// progress is what this process knows of a migration.
type progress struct {
	goal goal
	// active is true from when a migration was seen to be needed until it was seen to be over.
	active bool
	// since is when this process first saw that the goal is not reached.
	since time.Time
	// own is why Kyklos rewrites the objects itself; empty while the cluster's migrator may do it.
	own string
	// token continues the list; listed is true when it is complete.
	token  string
	listed bool
	// left are the objects to rewrite, refused those that the API server refused, and why the first.
	left, refused []item
	refusal       string
	// tries is how often what was refused has been tried, and retry when it is tried next.
	tries int
	retry time.Time
	// results counts objects, by result.
	results map[string]int
	// failures counts passes in a row that failed.
	failures int
	// told is when the last event told of the progress.
	told time.Time
}

// observation is all that a pass has read.
type observation struct {
	crd *definition
	// svm is the request to the cluster's migrator as it stands, nil if it is not there.
	svm *svmv1.StorageVersionMigration
	// unserved is why the cluster's migrator cannot be asked.
	unserved string
}

// step is what a pass does.
type step int

const (
	idle    step = iota // nothing, until the definition changes
	await               // nothing yet
	ask                 // create the request to the cluster's migrator
	discard             // delete it
	list                // read one page of the objects
	rewrite             // rewrite some of them
	again               // take up what was refused
	finish              // set storedVersions
)

type plan struct {
	step step
	// wait is when to look again at the latest; 0 means at once, and for idle never.
	wait time.Duration
	// own is why Kyklos rewrites the objects itself.
	own string
}

// makePlan decides the next step. delay is how long a new storage version is left alone: the instances
// of the API server learn of it one after the other, and must not store in the old one any more.
func makePlan(obs observation, p *progress, delay time.Duration, now time.Time) plan {
	if !needed(obs.crd) {
		return tidy(obs)
	}
	if _, _, served := endpoint(obs.crd); !served || !established(obs.crd) {
		return plan{step: idle}
	}
	if wait := p.since.Add(delay).Sub(now); wait > 0 {
		return plan{step: await, wait: wait}
	}
	own := p.own
	if own == "" {
		own = obs.unserved
	}
	if own == "" {
		s, why := judge(obs.svm, obs.crd, now)
		switch s {
		case unasked:
			return plan{step: ask, wait: pollInterval}
		case stale:
			return plan{step: discard}
		case busy:
			return plan{step: await, wait: pollInterval}
		case finished:
			return plan{step: finish}
		}
		own = why
	}
	next := byHand(p, now)
	next.own = own
	return next
}

// byHand is the next step of rewriting the objects ourselves.
func byHand(p *progress, now time.Time) plan {
	switch {
	case !p.listed:
		return plan{step: list}
	case len(p.left) > 0:
		return plan{step: rewrite}
	case len(p.refused) == 0:
		return plan{step: finish}
	}
	if wait := p.retry.Sub(now); wait > 0 {
		return plan{step: await, wait: wait}
	}
	return plan{step: again}
}

// tidy removes our request once it is no longer needed.
func tidy(obs observation) plan {
	if obs.svm == nil || obs.svm.Annotations[goalAnnotation] == "" {
		return plan{step: idle}
	}
	if disposable(obs.svm) {
		return plan{step: discard}
	}
	return plan{step: await, wait: leftoverInterval}
}
