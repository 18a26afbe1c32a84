package storagemigration

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// progressInterval is the least time between two events that tell of the progress.
const progressInterval = time.Minute

// situation is all that a report is about.
type situation struct {
	crd    *definition
	plan   plan
	before progress
	// progress is as the pass leaves it.
	progress *progress
	err      error
	now      time.Time
}

// report tells of the pass, and keeps in the progress what decides about the next report.
func (r *Reconciler) report(logger logr.Logger, s *situation) {
	p := s.progress
	p.active = needed(s.crd)
	if s.refusedInRound() {
		p.tries++
		p.retry = s.now.Add(nth(refusedRetry, p.tries))
	}
	told := s.events()
	if s.tellsProgress() {
		p.told = s.now
	}
	for _, event := range told {
		logger.Info(event.Note, "reason", event.Reason)
	}
	r.Events.Publish(s.crd, s.now, told...)
	metrics.RecordMigration(s.crd.Name, metrics.Migration{Active: p.active, Left: p.remaining()})

	switch {
	case s.err == nil:
		p.failures = 0
	case !apierrors.IsConflict(s.err):
		p.failures++
		logger.Error(s.err, "The storage migration is held up; the pass will be repeated", "failures", p.failures)
	}
}

// events are what the pass has to tell, oldest first.
func (s *situation) events() []events.Event {
	p, version := s.progress, storageVersion(s.crd).Name
	if s.before.active && !needed(s.crd) {
		how := "status.storedVersions says so"
		if s.before.own != "" {
			how = p.String()
		}
		return []events.Event{events.EmitMigrationCompleted(version, how)}
	}
	var told []events.Event
	stored := strings.Join(s.crd.Status.StoredVersions, ", ")
	switch {
	case p.own != s.before.own:
		told = append(told, events.EmitMigrationStarted(version, stored, "by Kyklos itself: "+p.own))
	case s.plan.step == ask && s.err == nil:
		told = append(told, events.EmitMigrationStarted(version, stored, "by the StorageVersionMigration "+requestName(s.crd.Name)))
	}
	if s.tellsProgress() {
		told = append(told, events.EmitMigrationProgress(version, p.remaining(), p.String()))
	}
	if s.refusedInRound() {
		told = append(told, events.EmitMigrationRefused(version, len(p.refused), fmt.Sprintf("the first is %s", p.refusal)))
	}
	return told
}

func (s *situation) tellsProgress() bool {
	p := s.progress
	return s.plan.step == rewrite && len(p.left) > 0 && !s.now.Before(p.told.Add(progressInterval))
}

// refusedInRound reports that this pass came to the end of the objects, and that some were refused.
func (s *situation) refusedInRound() bool {
	return s.plan.step == rewrite && len(s.progress.left) == 0 && len(s.progress.refused) > 0
}
