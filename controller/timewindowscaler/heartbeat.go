package timewindowscaler

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
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

// heartbeatTimeout bounds the request for a Lease.
const heartbeatTimeout = 5 * time.Second

// leases is the kind of heartbeats.
var leases = schema.GroupKind{Group: coordinationv1.GroupName, Kind: "Lease"}

// heartbeatOf reads the Lease of a Workspace that the plan stops, once it is known that it does. While that fails, nothing is stopped, and the
// target counts as unavailable when it lasts.
func (r *Reconciler) heartbeatOf(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs *observation, stops bool, now time.Time) (read bool, err error) {
	ws, ok := obs.target.(*target.Workspace)
	if !ok || obs.heartbeat.read {
		return false, nil
	}
	work := attempts.ID{Scaler: client.ObjectKeyFromObject(tws), Work: attempts.ReadHeartbeat}
	if !stops {
		r.attempts.Over(work)
		return false, nil
	}
	lane, cause := attempts.Lane{Namespace: tws.Namespace, Kind: leases}, attempts.Cause{Generation: tws.Generation, Target: ws.UID}
	obs.heartbeat, err = attempts.Do(ctx, r.attempts, work, lane, cause, func(ctx context.Context) (heartbeat, error) {
		ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
		defer cancel()
		return r.readHeartbeat(ctx, tws, ws, now)
	})
	if lasts(err) {
		obs.target, obs.unavailable = nil, err
		r.recordFailure(ctx, work.Scaler, err)
		err = nil
	}
	return true, err
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
		return heartbeat{}, fmt.Errorf("whether it is used is not known: get Lease %s: %w", key.Name, err)
	}
	seen := activity.Seen{}.Read(lease, activity.Workspace{UID: ws.UID, Created: ws.Created}, now)
	if lasts := lifecycle.UseLasts(0); !seen.Activity.IsZero() && seen.Renewed.Sub(now) < lasts { // not of a clock that is far ahead
		return heartbeat{read: true, until: seen.Activity.Add(lasts)}, nil
	}
	return heartbeat{read: true}, nil
}
