package timewindowscaler

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/statuswriter"
	"kyklos.io/kyklos/internal/targetkind"
)

// Reconciler brings each scaler's target to the replicas of the current window.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server; used only after a conflict.
	APIReader client.Reader
	// Dynamic reads and writes the scale of further kinds.
	Dynamic dynamic.Interface
	// Kinds tells which further kinds there are.
	Kinds *targetkind.Resolver
	// Clock is read once a pass (T7).
	Clock clock.PassiveClock
	// Events publishes what a pass has to tell.
	Events *events.Recorder
	// Requeue shapes the wait for the next boundary.
	Requeue Requeue

	memory  memory
	outage  *outage
	metrics *metricPoller
	// tolerance is that of all metrics.
	tolerance float64
	// enforce: what others rewrite is corrected at once, however often.
	enforce bool
	watches *kindWatches
	slow    slowKinds
}

// Reconcile is one pass over one scaler. See the package comment for its beats.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.Clock.Now()
	mem := r.memory.of(req.NamespacedName)
	stored, err := r.get(ctx, req.NamespacedName, mem)
	if apierrors.IsNotFound(err) || err == nil && stored.DeletionTimestamp != nil {
		r.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	defer func() { metrics.RecordReconcileDuration(req.Name, req.Namespace, r.Clock.Since(now).Seconds()) }()
	if err != nil {
		return r.failed(ctx, req, mem, now, err)
	}
	tws := mem.believed(stored)
	obs, err := r.observe(ctx, tws, mem)
	if err != nil {
		return r.failed(ctx, req, mem, now, err)
	}
	p, err := r.plan(ctx, tws, &obs, mem, now)
	if err != nil {
		return r.failed(ctx, req, mem, now, err)
	}
	mem.wakeUp, mem.metric, mem.fight = p.wakeUp, p.metric, p.fight
	r.metrics.follow(req.NamespacedName, p.metric.wanted)
	done, err := act(ctx, tws, obs, p, mem)
	if err != nil {
		return r.failed(ctx, req, mem, now, err)
	}
	if done.scaled {
		mem.fight.correct(now)
	}
	pass := situation{tws: tws.DeepCopy(), obs: obs, plan: p, outcome: done, now: now}
	err = r.report(ctx, stored, &pass, mem)
	if err != nil {
		return r.failed(ctx, req, mem, now, err)
	}
	return r.settled(req, &pass, mem)
}

// plan decides by what was observed and what is remembered. A fight that begins is decided again when
// its rival has been asked for.
func (r *Reconciler) plan(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs *observation, mem *recollection, now time.Time) (plan, error) {
	obs.metric = metricObservation{tolerance: r.tolerance, sample: r.metrics.sample(client.ObjectKeyFromObject(tws)), before: mem.metric}
	obs.fight = fightObservation{before: mem.fight, enforce: r.enforce}
	p := makePlan(tws, *obs, now)
	if !p.fight.nameless() {
		return p, nil
	}
	var err error
	if obs.fight.rival, err = r.rivalOf(ctx, tws, *obs); err != nil {
		return p, err
	}
	return makePlan(tws, *obs, now), nil
}

// report writes the status and then tells of what was done, whether or not the status could be
// written: the write to the target has happened.
func (r *Reconciler) report(ctx context.Context, stored *v1beta1.TimeWindowScaler, pass *situation, mem *recollection) error {
	status := pass.status()
	var err error
	held := mem.holdsBack(pass, &stored.Status, &status)
	if !held {
		_, err = statuswriter.UpdateStatus(ctx, r.Client.Status(), stored, status)
	}
	if held || err != nil {
		mem.keep(stored, &status)
	} else {
		mem.written, mem.held = stored, nil
	}
	pass.log(log.FromContext(ctx))
	r.Events.Publish(pass.tws, pass.now, pass.announcements()...)
	mem.fight.told = mem.fight.on()
	pass.record(&status)
	return err
}

// settled returns when to look again after a pass that reported all it found.
func (r *Reconciler) settled(req reconcile.Request, pass *situation, mem *recollection) (reconcile.Result, error) {
	mem.live = false
	if refused := pass.outcome.refused; refused != nil {
		return r.backOff(req, mem, pass.now, refused)
	}
	mem.failures = 0
	r.outage.over(req.NamespacedName)

	delay := semanticRetry
	if wake := pass.plan.wakeUp; !wake.IsZero() {
		delay = r.Requeue.After(pass.now, wake, pass.tws.UID)
	}
	switch {
	case pass.plan.invalid != "" || pass.plan.badZone != "":
		delay = min(delay, semanticRetry)
	case pass.outcome.target == nil && pass.obs.owner == "":
		delay = min(delay, missingTargetRetry)
	}
	if at := pass.plan.fightWakeUp(&mem.fight); !at.IsZero() {
		delay = min(delay, at.Sub(pass.now))
	}
	if !mem.heldSince.IsZero() {
		delay = min(delay, statusHold)
	}
	return after(delay), nil
}

// failed returns when to try again after a pass that could not finish (B10).
func (r *Reconciler) failed(ctx context.Context, req reconcile.Request, mem *recollection, now time.Time, err error) (reconcile.Result, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return reconcile.Result{}, ctx.Err() // we are told to stop
	}
	if isStale(err) {
		mem.live, mem.written, mem.scaled = true, nil, nil
		return after(staleRetry), nil
	}
	if errors.Is(err, errNotWatchedYet) {
		return after(rewatchInterval), nil // woken earlier, as a rule
	}
	if errors.Is(err, errSlowKind) {
		return after(retryAfter(1, now, mem.wakeUp)), nil // woken earlier, when it answers
	}
	log.FromContext(ctx).Error(err, "Pass failed; it will be repeated", "failures", mem.failures+1)
	metrics.RecordScaleFailure(req.Name, req.Namespace, failureReason(err))
	return r.backOff(req, mem, now, err)
}

func (r *Reconciler) backOff(req reconcile.Request, mem *recollection, now time.Time, err error) (reconcile.Result, error) {
	mem.failures++
	r.outage.failed(req.NamespacedName, isUnreachable(err) && mem.failures <= len(backOff))
	return after(retryAfter(mem.failures, now, mem.wakeUp)), nil
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.memory.forget(key)
	r.outage.over(key)
	r.metrics.follow(key, nil)
	r.Events.Forget(key)
	metrics.Forget(key)
}
