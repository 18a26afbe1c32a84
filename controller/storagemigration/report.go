package storagemigration

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// progressInterval is the minimum time between two progress events.
const progressInterval = time.Minute

// staleRetry follows a conflict: by then the watch has the current definition.
const staleRetry = 100 * time.Millisecond

var (
	// backOff are the waits after the first, second, ... consecutive failed pass. Just after a start, the API
	// server may need some seconds until it can call Kyklos's conversion webhook.
	backOff = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}
	// refusedRetry are the waits before refused objects are tried again.
	refusedRetry = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute}
)

// nth returns the nth wait, the last one for all further times.
func nth(waits []time.Duration, n int) time.Duration {
	return waits[min(max(n, 1), len(waits))-1]
}

// passResult is what a pass has done.
type passResult struct {
	crd           *definition
	plan          plan
	before, after progress
	err           error
	now           time.Time
}

// report is what follows from a pass.
type report struct {
	// progress is what the next pass continues from.
	progress progress
	events   []events.Event
	gauges   metrics.Migration
	// err is logged; a conflict is not.
	err    error
	result reconcile.Result
}

func makeReport(pass passResult) report {
	rep := report{progress: pass.after, events: pass.events()}
	p := &rep.progress
	p.active = needed(pass.crd)
	if pass.refusedInRound() {
		p.attempts++
		p.retryAt = pass.now.Add(nth(refusedRetry, p.attempts))
	}
	if pass.progressDue() {
		p.reported = pass.now
	}
	switch {
	case pass.err == nil:
		p.failures = 0
	case !apierrors.IsConflict(pass.err):
		p.failures++
		rep.err = pass.err
	}
	rep.gauges = metrics.Migration{Active: p.active || p.stale > 0, Left: p.remaining()}
	rep.result.RequeueAfter = pass.requeueAfter(p.failures)
	return rep
}

// publish logs the report and publishes its events and metrics.
func (r *Reconciler) publish(ctx context.Context, crd *definition, rep report, now time.Time) {
	logger := log.FromContext(ctx)
	for _, event := range rep.events {
		logger.Info(event.Note, "reason", event.Reason)
	}
	r.Events.Publish(crd, now, rep.events...)
	metrics.RecordMigration(crd.Name, rep.gauges)
	if rep.err != nil {
		logger.Error(rep.err, "Storage migration failed; retrying", "failures", rep.progress.failures)
	}
}

// requeueAfter is the time until the next pass; 0 is never. The watch triggers passes, too.
func (pass *passResult) requeueAfter(failures int) time.Duration {
	switch {
	case apierrors.IsConflict(pass.err):
		return staleRetry
	case pass.err != nil:
		return nth(backOff, failures)
	case pass.plan.step == idle:
		return 0
	case pass.plan.step == finish:
		return pollInterval // the watch reports the result
	}
	return max(pass.plan.wait, time.Nanosecond)
}

// events are what is new after this pass, oldest first.
func (pass *passResult) events() (found []events.Event) {
	p, version := &pass.after, storageVersion(pass.crd).Name
	if pass.before.active && !needed(pass.crd) {
		how := "according to status.storedVersions"
		if pass.before.fallback != "" {
			how = pass.before.String()
		}
		return []events.Event{events.EmitMigrationCompleted(version, how)}
	}
	stored := strings.Join(pass.crd.Status.StoredVersions, ", ")
	switch {
	case p.cleaned && !pass.before.cleaned:
		if moved, removable := p.results[metrics.MigrationRewritten], unserved(pass.crd); moved > 0 || len(removable) > 0 {
			found = append(found, events.EmitManagedFieldsMoved(moved, removable))
		}
	case p.fallback != pass.before.fallback:
		found = append(found, events.EmitMigrationStarted(version, stored, "by Kyklos itself: "+p.fallback))
	case pass.plan.step == createRequest && pass.err == nil:
		found = append(found, events.EmitMigrationStarted(version, stored, "by the StorageVersionMigration "+requestName(pass.crd.Name)))
	}
	if pass.progressDue() {
		found = append(found, events.EmitMigrationProgress(version, p.remaining(), p.String()))
	}
	if pass.refusedInRound() {
		found = append(found, events.EmitMigrationRefused(version, len(p.refused), fmt.Sprintf("the first is %s", p.refusal)))
	}
	return found
}

func (pass *passResult) progressDue() bool {
	p := &pass.after
	return pass.plan.step == rewriteBatch && len(p.left) > 0 && !pass.now.Before(p.reported.Add(progressInterval))
}

// refusedInRound reports that this pass reached the end of the objects and that some were refused.
func (pass *passResult) refusedInRound() bool {
	return pass.plan.step == rewriteBatch && len(pass.after.left) == 0 && len(pass.after.refused) > 0
}
