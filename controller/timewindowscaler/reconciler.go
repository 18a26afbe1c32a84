package timewindowscaler

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/controller/timewindowscaler/holidaywatch"
	"kyklos.io/kyklos/controller/timewindowscaler/kindwatch"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// Reconciler brings each scaler's target to the replicas of the current window.
type Reconciler struct {
	target.Clients
	// Clock is read once a pass (T7).
	Clock clock.PassiveClock
	// Events publishes the events of a pass.
	Events *events.Recorder
	// Requeue shapes the wait for the next boundary.
	Requeue Requeue

	// namespaces are those that are served; none means all.
	namespaces []string

	memory   memory
	caughtUp sync.Once
	attempts *attempts.Attempts
	echoes   echoes
	holidays holidaywatch.Watches
	metrics  *extmetric.Poller
	// tolerance applies to all metrics.
	tolerance float64
	// enforce: what others rewrite is corrected at once, however often.
	enforce bool
}

// Reconcile is one pass over one scaler: observe, plan, act, report. If it is the scaler's turn, the status is written and the
// events are published; otherwise a later pass does that.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.Clock.Now()
	state := r.memory.of(req.NamespacedName)
	if r.waits(req.NamespacedName, state, now) {
		return after(reportRetry), nil
	}
	r.attempts.Decide(req.NamespacedName)
	defer r.attempts.Decided(req.NamespacedName)
	r.echoes.forget(req.NamespacedName)
	defer r.awaitEcho(req.NamespacedName)
	stored, err := r.get(ctx, req.NamespacedName, state, now)
	if err == nil && (stored == nil || stored.DeletionTimestamp != nil) {
		return r.deleted(ctx, req, stored, state, now)
	}
	defer func() { metrics.RecordReconcileDuration(r.Clock.Since(now).Seconds()) }()
	if err != nil {
		return r.unread(ctx, req, stored, state, now, err)
	}
	tws := state.unstored.inForce(stored)
	obs, err := r.observe(ctx, tws, state, now)
	if err != nil {
		return r.failed(ctx, req, state, now, err)
	}
	p, err := r.decide(ctx, tws, &obs, state, now)
	if err != nil {
		return r.failed(ctx, req, state, now, err)
	}
	state.wakeUp, state.graceSince, state.metric, state.fight = p.wakeUp, p.length.since, p.metric, p.fight
	state.overdue = p.due
	r.metrics.Follow(req.NamespacedName, p.metric.Wanted)
	done, err := r.act(ctx, tws, obs, p, state)
	if err != nil {
		return r.failed(ctx, req, state, now, err)
	}
	if done.scaled {
		state.overdue = time.Time{}
		state.fight.Correct(now)
	}
	r.attempts.Decided(req.NamespacedName)
	pass := passResult{tws: tws.DeepCopy(), obs: obs, plan: p, outcome: done, now: now}
	if err := r.report(ctx, stored, &pass, state); err != nil {
		return r.failed(ctx, req, state, now, err)
	}
	return lessThat(r.nextRequeue(&pass, state), r.Clock.Since(now)), nil
}

// report records what the pass has found and done, and publishes it when it is the scaler's turn.
func (r *Reconciler) report(ctx context.Context, stored *v1beta1.TimeWindowScaler, pass *passResult, state *scalerState) error {
	report := pass.report()
	r.record(ctx, pass, report, state)
	if pass.obs.unchecked {
		state.refused.putOff = true
		r.attempts.WakeLast(client.ObjectKeyFromObject(stored))
	}
	return r.publish(ctx, stored, report.status, state, pass)
}

// decide plans, and plans again with what it turns out to need: whether the schema accepts what is to be written, and who the
// rival is.
func (r *Reconciler) decide(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs *observation, state *scalerState, now time.Time) (p decision, err error) {
	p = plan(tws, *obs, now)
	if obs.unchecked && p.Write {
		if obs.refused, err = state.refused.of(ctx, &tws.Spec); err != nil {
			return p, err
		}
		obs.unchecked, p = false, plan(tws, *obs, now)
	}
	read, err := r.heartbeatOf(ctx, tws, obs, p.Stops, now)
	if err != nil {
		return p, err
	}
	if read {
		p = plan(tws, *obs, now)
	}
	if p.fight.Nameless() { // a fight starts
		if obs.fight.rival, err = contention.Rival(ctx, r.APIReader, tws, obs.target, obs.autoscaler); err != nil {
			return p, err
		}
		p = plan(tws, *obs, now)
	}
	return p, nil
}

// waits takes a place in line for a scaler whose boundary has passed, if others fill its lane.
func (r *Reconciler) waits(key types.NamespacedName, state *scalerState, now time.Time) bool {
	due := !state.wakeUp.IsZero() && !now.Before(state.wakeUp)
	kind := state.target.Kind()
	return due && kind.Kind != "" && r.attempts.Wait(attempts.ID{Scaler: key, Work: attempts.WriteTarget}, attempts.Lane{Namespace: key.Namespace, Kind: kind})
}

// nextRequeue returns when to reconcile again after a pass that was completed.
func (r *Reconciler) nextRequeue(pass *passResult, state *scalerState) reconcile.Result {
	delay := semanticRetry
	if wake := pass.plan.wakeUp; !wake.IsZero() {
		delay = r.Requeue.After(pass.now, wake, pass.tws.UID)
	}
	switch {
	case pass.plan.invalid != "" || pass.plan.badZone != "" || pass.outcome.trouble() != nil:
		delay = min(delay, semanticRetry)
	case pass.outcome.target == nil && pass.obs.owner == "":
		delay = min(delay, missingTargetRetry)
	}
	fight := state.fight.Over()
	if pass.plan.waiting {
		fight = state.fight.Due()
	}
	for _, at := range []time.Time{fight, pass.obs.takesOver, pass.looksAgain(), pass.noticeDue()} {
		if !at.IsZero() {
			delay = min(delay, at.Sub(pass.now))
		}
	}
	return state.untilAsked(after(delay), pass.now)
}

// failed returns when to look again at a pass that could not be completed. What it could not do is retried
// earlier, when its turn comes (B10).
func (r *Reconciler) failed(ctx context.Context, req reconcile.Request, state *scalerState, now time.Time, err error) (reconcile.Result, error) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return reconcile.Result{}, ctx.Err() // the manager stops
	case failure.IsStale(err):
		state.doubt()
		return after(staleRetry), nil
	case errors.Is(err, kindwatch.ErrNotListedYet):
		return after(kindwatch.RetryInterval), nil // normally woken earlier
	}
	var refused *statusRefusedError
	if errors.As(err, &refused) {
		r.Events.Publish(refused.scaler, now, refused.event())
	}
	r.recordFailure(ctx, req.NamespacedName, err)
	return after(untilOr(reportRetry, now, state.wakeUp)), nil
}

// recordFailure counts and logs a request that failed in this pass, the log only after 1, 2, 4, 8, ... failures in
// a row.
func (r *Reconciler) recordFailure(ctx context.Context, key types.NamespacedName, err error) {
	var trouble *attempts.Trouble
	failures := 1
	if errors.As(err, &trouble) {
		if failures = trouble.Failures; !trouble.Sent {
			return
		}
	}
	var refused *statusRefusedError
	if !errors.As(err, &refused) { // the target is scaled all the same
		metrics.RecordScaleFailure(key.Name, key.Namespace, failure.Reason(err))
	}
	if failures&(failures-1) == 0 {
		log.FromContext(ctx).Error(err, "Reconciliation failed; it will be retried", "failures", failures)
	}
}

// lasts reports trouble that is worth a report.
func lasts(err error) bool {
	var trouble *attempts.Trouble
	var unlisted *kindwatch.UnlistedError
	return errors.As(err, &trouble) && trouble.Lasts || errors.As(err, &unlisted)
}

// statusLane is the lane of requests about a scaler.
func statusLane(key types.NamespacedName) attempts.Lane {
	return attempts.Lane{Namespace: key.Namespace, Kind: schema.GroupKind{Group: v1beta1.GroupVersion.Group, Kind: "TimeWindowScaler"}}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.release(key)
	r.memory.forget(key)
	r.attempts.Forget(key)
}

// release ends what a scaler uses beside its passes.
func (r *Reconciler) release(key types.NamespacedName) {
	r.metrics.Follow(key, nil)
	r.holidays.Release(key)
	r.Events.Forget(key)
	metrics.Forget(key)
	metrics.RecordUndecodable(v1beta1.GroupKind.Kind, key, false)
}
