package workspaceidle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
)

// retry is when to look again after somebody else has changed the Workspace first.
const retry = 5 * time.Second

// Reconciler lowers what is desired of idle Workspaces.
type Reconciler struct {
	// Client reads the cache and writes; Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	// Clock is read once a pass (T7).
	Clock  clock.PassiveClock
	Events *events.Recorder

	heard memory
}

// Reconcile is one look at one Workspace. A conflict is no error: there is something new to look at.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.Clock.Now()
	var ws v1alpha1.Workspace
	if err := r.Client.Get(ctx, req.NamespacedName, &ws); err != nil {
		return reconcile.Result{}, r.gone(req, err)
	}
	decision := r.decide(&ws, r.heard.of(&ws).Activity, now)
	if decision.Desired == "" {
		return wait(&ws, decision, now), nil
	}
	// It may be due: the cache may be late, and heartbeats are not watched.
	if err := r.Live.Get(ctx, req.NamespacedName, &ws); err != nil {
		return reconcile.Result{}, r.gone(req, err)
	}
	seen, err := r.listen(ctx, &ws, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	decision = r.decide(&ws, seen.Activity, now)
	if decision.Desired == "" {
		return wait(&ws, decision, now), nil
	}
	return r.lower(ctx, &ws, v1alpha1.DesiredState(decision.Desired), seen.Activity, now)
}

// decide asks the engine, by times that are not yet to come.
func (r *Reconciler) decide(ws *v1alpha1.Workspace, lastActivity, now time.Time) lifecycle.IdleDecision {
	return lifecycle.DecideIdle(r.heard.past(ws, inputOf(ws, lastActivity, now)))
}

// listen reads the Workspace's Lease.
func (r *Reconciler) listen(ctx context.Context, ws *v1alpha1.Workspace, now time.Time) (activity.Seen, error) {
	lease := &coordinationv1.Lease{}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: ws.Namespace, Name: activity.LeaseName(ws.Name)}, lease)
	if apierrors.IsNotFound(err) {
		lease, err = nil, nil
	}
	if err != nil {
		return activity.Seen{}, fmt.Errorf("look for heartbeats: %w", err)
	}
	return r.heard.read(ws, lease, now), nil
}

// lower writes what is desired, and tells of it.
func (r *Reconciler) lower(ctx context.Context, ws *v1alpha1.Workspace, to v1alpha1.DesiredState, last, now time.Time) (reconcile.Result, error) {
	from, since := ws.Spec.DesiredState, timeOf(ws.Status.RunningSince)
	if from == v1alpha1.DesiredStandby {
		since = timeOf(ws.Status.StandbySince)
	}
	err := r.Client.Patch(ctx, ws, patch(ws.ResourceVersion, from, to), client.FieldOwner(FieldManager))
	switch {
	case apierrors.IsConflict(err), apierrors.IsInvalid(err), apierrors.IsNotFound(err):
		log.FromContext(ctx).V(1).Info("Somebody else was first; looking again", "reason", err.Error())
		return reconcile.Result{RequeueAfter: retry}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("lower spec.desiredState from %s to %s: %w", from, to, err)
	}
	metrics.RecordWorkspaceIdle(string(to))
	event := events.EmitWorkspaceIdle(string(to), since, last, ttl(ws, from))
	r.Events.Publish(ws, now, event)
	log.FromContext(ctx).Info(event.Note, "from", from, "to", to)
	return reconcile.Result{}, nil // its own watch brings the next look
}

// patch replaces the desired state of exactly the Workspace that was read. The first operations test it;
// the API server answers 422 if they fail (RFC 6902, 4.6).
func patch(resourceVersion string, from, to v1alpha1.DesiredState) client.Patch {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	body, err := json.Marshal([]operation{
		{"test", "/metadata/resourceVersion", resourceVersion},
		{"test", "/spec/desiredState", from},
		{"replace", "/spec/desiredState", to},
	})
	if err != nil {
		panic(err) // strings only
	}
	return client.RawPatch(types.JSONPatchType, body)
}

// gone forgets a Workspace that is not there.
func (r *Reconciler) gone(req reconcile.Request, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	r.Events.Forget(req.NamespacedName)
	r.heard.forget(req.NamespacedName)
	return nil
}
