package workspaceidle

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// outcome is what the write came to.
type outcome struct {
	lowered bool
	// changed is why the write was refused: the Workspace has changed since it was read.
	changed error
}

// act lowers spec.desiredState if the plan says so.
func (r *Reconciler) act(ctx context.Context, ws *v1alpha1.Workspace, next plan) (outcome, error) {
	if next.desired == "" {
		return outcome{}, nil
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
