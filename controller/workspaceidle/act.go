package workspaceidle

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
)

// outcome is what the write came to.
type outcome struct {
	lowered bool
	// changed is why the write was refused: the Workspace has changed since it was read.
	changed error
}

// act lowers spec.desiredState if the plan says so. Otherwise it records a heartbeat that was read.
func (r *Reconciler) act(ctx context.Context, obs observation, next plan) (outcome, error) {
	ws := obs.workspace
	if next.desired == "" {
		return outcome{}, r.recordActivity(ctx, obs)
	}
	from := ws.Spec.DesiredState
	err := r.Client.Patch(ctx, ws.DeepCopy(), patch(ws.ResourceVersion, from, next.desired), client.FieldOwner(FieldManager))
	switch {
	case apierrors.IsConflict(err), apierrors.IsInvalid(err), apierrors.IsNotFound(err):
		return outcome{changed: err}, nil
	case err != nil:
		return outcome{}, fmt.Errorf("lower spec.desiredState from %s to %s: %w", from, next.desired, err)
	}
	return outcome{lowered: true}, nil
}

// recordActivity writes status.lastActivityTime. It is tried again when the Lease is next read.
func (r *Reconciler) recordActivity(ctx context.Context, obs observation) error {
	at := statusconv.Time(obs.idle.LastActivity)
	if !obs.live || at == nil || !at.After(statusconv.Activity(obs.workspace).Last) {
		return nil
	}
	next := obs.workspace.DeepCopy()
	next.Status.LastActivityTime = at
	err := r.Client.Status().Update(ctx, next, client.FieldOwner(FieldManager))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// patch replaces the desired state of exactly the Workspace that was read. If a test fails, the API server answers 422
// (RFC 6902, 4.6).
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
