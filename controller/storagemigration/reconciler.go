package storagemigration

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	svmclient "k8s.io/client-go/kubernetes/typed/storagemigration/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/internal/clockstep"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// Reconciler migrates the stored objects of CustomResourceDefinitions. It runs one worker.
type Reconciler struct {
	// Watched returns the watched copy of a definition, nil if there is none.
	Watched func(name string) *definition
	// Definitions, Migrations and Objects reach the API server.
	Definitions apiextensionsclient.CustomResourceDefinitionInterface
	Migrations  svmclient.StorageVersionMigrationInterface
	Objects     metadata.Interface
	// Clock is read once per pass (T7).
	Clock  clock.PassiveClock
	Events *events.Recorder
	// QPS is the maximum number of objects rewritten per second; Limiter enforces it.
	QPS     int
	Limiter flowcontrol.RateLimiter
	// Delay is how long a storage version must have been seen before objects are rewritten in it.
	Delay time.Duration

	progress map[string]*progress
}

// progress is what this process knows about a migration.
type progress struct {
	goal goal
	// active is true from when a migration was found necessary until it was found complete.
	active bool
	// since is when this process first saw that the goal is not reached.
	since time.Time
	// fallback is why Kyklos rewrites the objects itself; empty while the cluster's migrator may do it.
	fallback string
	// token continues the list; listed is true when the list is complete.
	token  string
	listed bool
	// left are the objects to rewrite. refused are those that the API server refused, refusal is the first reason.
	left, refused []item
	refusal       string
	// attempts counts how often the refused objects were tried; the next attempt is at retryAt.
	attempts int
	retryAt  time.Time
	// results counts objects by result.
	results map[string]int
	// cleaning is true once all objects are stored in the storage version, and what is listed and rewritten are those
	// whose managed fields name a version that is not served. stale counts them in the current list; cleaned is true
	// when a complete list had none.
	cleaning, cleaned bool
	stale             int
	// failures counts consecutive failed passes.
	failures int
	// reported is the time of the last progress event.
	reported time.Time
}

// item is one object to rewrite, as it was listed.
type item struct {
	namespace, name, resourceVersion string
	// managedFields replace the object's; nil to leave them alone.
	managedFields []metav1.ManagedFieldsEntry
}

// Reconcile is one pass over one definition. See the package comment for its beats.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.Clock.Now()
	crd := r.Watched(req.Name)
	if crd == nil || crd.DeletionTimestamp != nil {
		r.forget(req)
		return reconcile.Result{}, nil
	}
	p := r.progressOf(crd, now)
	before := *p
	obs, err := r.observe(ctx, crd, p)
	var next plan
	if err == nil {
		next = makePlan(obs, p, r.Delay, now)
		err = r.act(ctx, obs, next, p)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return reconcile.Result{}, ctx.Err() // the manager is stopping
	}
	rep := makeReport(passResult{crd: crd, plan: next, before: before, after: *p, err: err, now: now})
	*p = rep.progress
	r.publish(ctx, crd, rep, now)
	return rep.result, nil
}

// progressOf returns the progress towards the goal that crd has now.
func (r *Reconciler) progressOf(crd *definition, now time.Time) *progress {
	if r.progress == nil {
		r.progress = map[string]*progress{}
	}
	p := r.progress[crd.Name]
	// A new migration does not inherit what a finished one has learned.
	if p == nil || p.goal != goalOf(crd) || !p.active && needed(crd) {
		active := p != nil && p.active
		p = &progress{goal: goalOf(crd), active: active, since: now, reported: now, results: map[string]int{}}
		r.progress[crd.Name] = p
	}
	// After the clock was set back, nothing waits for the time it showed before.
	p.since, p.reported = clockstep.Earlier(p.since, now), clockstep.Earlier(p.reported, now)
	p.retryAt = clockstep.Earlier(p.retryAt, now.Add(refusedRetry[len(refusedRetry)-1]))
	return p
}

func (r *Reconciler) forget(req reconcile.Request) {
	delete(r.progress, req.Name)
	r.Events.Forget(req.NamespacedName)
	metrics.RecordMigration(req.Name, metrics.Migration{})
}

// startCleaning forgets the objects of the storage migration: others are to be listed now.
func (p *progress) startCleaning() {
	p.cleaning = true
	p.token, p.listed, p.left, p.refused, p.refusal, p.attempts = "", false, nil, nil, "", 0
	p.results = map[string]int{}
}

// checkAgain ends a round. Only a list without a stale object is the end: what another client wrote meanwhile was not
// rewritten.
func (p *progress) checkAgain() {
	p.cleaned = p.stale == 0
	p.listed, p.stale, p.attempts = false, 0, 0
}

// remaining counts the objects known to be left.
func (p *progress) remaining() int { return len(p.left) + len(p.refused) }

func (p *progress) String() string {
	return fmt.Sprintf("%d rewritten, %d written by others, %d already in this version, %d deleted",
		p.results[metrics.MigrationRewritten], p.results[metrics.MigrationSuperseded],
		p.results[metrics.MigrationUnchanged], p.results[metrics.MigrationGone])
}
