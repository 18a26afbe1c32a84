package storagemigration

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	svmclient "k8s.io/client-go/kubernetes/typed/storagemigration/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// batchSeconds is about how long one pass rewrites objects before it looks at the definition again.
const batchSeconds = 5

// Reconciler migrates the objects of the definitions that it is called for. It has one worker.
type Reconciler struct {
	// Watched returns the watched copy of a definition, nil if there is none.
	Watched func(name string) *definition
	// Definitions, Migrations and Objects reach the API server.
	Definitions apiextensionsclient.CustomResourceDefinitionInterface
	Migrations  svmclient.StorageVersionMigrationInterface
	Objects     metadata.Interface
	// Clock is read once a pass (T7).
	Clock clock.PassiveClock
	// Events publishes what a pass has to tell.
	Events *events.Recorder
	// QPS is the most objects rewritten in a second; Pace sees to it.
	QPS  int
	Pace flowcontrol.RateLimiter
	// Delay is how long a storage version must have been seen before objects are rewritten in it.
	Delay time.Duration

	progress map[string]*progress
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
		return reconcile.Result{}, ctx.Err() // we are told to stop
	}
	s := situation{crd: crd, plan: next, before: before, progress: p, err: err, now: now}
	r.report(log.FromContext(ctx), &s)
	return reconcile.Result{RequeueAfter: s.wait()}, nil
}

// progressOf returns what is known of the migration that crd asks for now.
func (r *Reconciler) progressOf(crd *definition, now time.Time) *progress {
	if r.progress == nil {
		r.progress = map[string]*progress{}
	}
	p := r.progress[crd.Name]
	// What a migration that is over has learned says nothing about one that begins.
	if p == nil || p.goal != goalOf(crd) || !p.active && needed(crd) {
		active := p != nil && p.active
		p = &progress{goal: goalOf(crd), active: active, since: now, told: now, results: map[string]int{}}
		r.progress[crd.Name] = p
	}
	p.setBack(now)
	return p
}

// setBack sees to it that nothing waits for the time that the clock was at before it was set back.
func (p *progress) setBack(now time.Time) {
	earlier := func(a, b time.Time) time.Time {
		if a.After(b) {
			return b
		}
		return a
	}
	p.since, p.told = earlier(p.since, now), earlier(p.told, now)
	p.retry = earlier(p.retry, now.Add(refusedRetry[len(refusedRetry)-1]))
}

func (r *Reconciler) forget(req reconcile.Request) {
	delete(r.progress, req.Name)
	r.Events.Forget(req.NamespacedName)
	metrics.RecordMigration(req.Name, metrics.Migration{})
}

// wait is when to look again; 0 is never. Beside it the watch calls.
func (s *situation) wait() time.Duration {
	switch {
	case apierrors.IsConflict(s.err):
		return staleRetry
	case s.err != nil:
		return nth(backOff, s.progress.failures)
	case s.plan.step == idle:
		return 0
	case s.plan.step == finish:
		return pollInterval // the watch brings the result
	}
	return max(s.plan.wait, time.Nanosecond)
}

// remaining counts the objects that are known to be left.
func (p *progress) remaining() int { return len(p.left) + len(p.refused) }

func (p *progress) String() string {
	return fmt.Sprintf("%d rewritten, %d written by others, %d stored so already, %d gone",
		p.results[metrics.MigrationRewritten], p.results[metrics.MigrationSuperseded],
		p.results[metrics.MigrationUnchanged], p.results[metrics.MigrationGone])
}
