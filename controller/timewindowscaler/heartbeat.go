package timewindowscaler

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/lifecycle"
)

// heartbeat is what the Lease of a Workspace says. It is read only when the Workspace is about to be stopped: what its Pod
// tells comes with the Workspace, and heartbeats do not.
type heartbeat struct {
	read bool
	// until is how long the last heartbeat counts; zero without one.
	until time.Time
}

// readHeartbeat reads the Lease of the scaler's Workspace.
func (r *Reconciler) readHeartbeat(ctx context.Context, tws *v1beta1.TimeWindowScaler, ws *target.Workspace, now time.Time) (heartbeat, error) {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: tws.Namespace, Name: activity.LeaseName(tws.Spec.TargetRef.Name)}
	err := r.APIReader.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		return heartbeat{read: true}, nil
	case err != nil:
		return heartbeat{}, fmt.Errorf("get the activity Lease: %w", err)
	}
	seen := activity.Seen{}.Read(lease, activity.Workspace{UID: ws.UID, Created: ws.Created}, now)
	if lasts := lifecycle.UseLasts(0); !seen.Activity.IsZero() && seen.Renewed.Sub(now) < lasts { // not of a clock that is far ahead
		return heartbeat{read: true, until: seen.Activity.Add(lasts)}, nil
	}
	return heartbeat{read: true}, nil
}
