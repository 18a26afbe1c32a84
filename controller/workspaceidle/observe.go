package workspaceidle

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/clockstep"
	"kyklos.io/kyklos/internal/lifecycle"
)

// observation is everything that a pass has read.
type observation struct {
	workspace *v1alpha1.Workspace
	// idle holds no time after now.
	idle lifecycle.IdleInput
	// lastActivity is the last use or heartbeat, as it was read; zero for none.
	lastActivity time.Time
	// live: it was read from the API server, with the Lease.
	live bool
}

// observe reads the Workspace from the cache. If it seems due, the Workspace and its Lease are read from the API server:
// the cache may be late, and heartbeats are not watched.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName, now time.Time) (observation, error) {
	var ws v1alpha1.Workspace
	if err := r.Client.Get(ctx, key, &ws); err != nil {
		return observation{}, err
	}
	obs := r.memory.observation(&ws, r.memory.lastRead(&ws), now)
	obs.idle.Heartbeats = r.memory.mayBeat(&ws, now)
	if makePlan(obs).desired == "" {
		return obs, nil
	}
	if err := r.Live.Get(ctx, key, &ws); err != nil {
		return observation{}, err
	}
	lease := &coordinationv1.Lease{}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: ws.Namespace, Name: activity.LeaseName(ws.Name)}, lease)
	switch {
	case apierrors.IsNotFound(err):
		lease = nil
	case err != nil:
		return observation{}, fmt.Errorf("get the activity Lease: %w", err)
	}
	obs = r.memory.observation(&ws, r.memory.read(&ws, lease, now), now)
	obs.live, obs.idle.Heartbeats = true, lease != nil
	return obs, nil
}

// memory holds what the Leases said when they were last read, and which times were in the future. It only saves reads:
// without it, after a restart, each Lease is read again when the time since the start has run out.
type memory struct {
	mu     sync.Mutex
	leases map[types.NamespacedName]*remembered
}

type remembered struct {
	uid  types.UID // the Workspace's
	seen activity.Seen
	// read is when the Lease was last read, and none that there was none.
	read time.Time
	none bool
	// since and active are the time since which the Workspace is in its state, and the last activity.
	since, active clockstep.FutureTime
}

// of returns what is known about a Workspace. The lock must be held.
func (m *memory) of(ws *v1alpha1.Workspace) *remembered {
	key := client.ObjectKeyFromObject(ws)
	if m.leases == nil {
		m.leases = map[types.NamespacedName]*remembered{}
	}
	if known := m.leases[key]; known == nil || known.uid != ws.UID {
		m.leases[key] = &remembered{uid: ws.UID}
	}
	return m.leases[key]
}

// lastRead returns the last activity that was read.
func (m *memory) lastRead(ws *v1alpha1.Workspace) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(ws).seen.Activity
}

// mayBeat reports whether there may be a Lease, as far as is known: one that did not exist is looked for again after a while.
func (m *memory) mayBeat(ws *v1alpha1.Workspace, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(ws)
	return !known.none || now.Sub(known.read).Abs() >= lookAgain
}

// read remembers the Lease, nil if there is none, and returns the last activity.
func (m *memory) read(ws *v1alpha1.Workspace, lease *coordinationv1.Lease, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(ws)
	known.read, known.none = now, lease == nil
	known.seen = known.seen.Read(lease, activity.Workspace{UID: ws.UID, Created: ws.CreationTimestamp.Time}, now)
	return known.seen.Activity
}

// observation replaces times after now. heartbeat is the last one that was read.
func (m *memory) observation(ws *v1alpha1.Workspace, heartbeat, now time.Time) observation {
	used := statusconv.Activity(ws)
	lastActivity := used.Last
	if heartbeat.After(lastActivity) {
		lastActivity = heartbeat
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, idle := m.of(ws), idleInput(ws, lastActivity, now)
	idle.Use = used.Use
	if used.Use == lifecycle.Idle && ofEarlierSpec(ws) {
		idle.Use = lifecycle.InUse
	}
	since := &idle.Status.RunningSince
	switch {
	case idle.Status.Operation.Failing():
		since = &idle.Status.Operation.StartedAt
	case idle.Desired == lifecycle.Standby:
		since = &idle.Status.StandbySince
	}
	*since, idle.LastActivity = known.since.AtMost(*since, now), known.active.AtMost(lastActivity, now)
	return observation{workspace: ws, idle: idle, lastActivity: lastActivity}
}

// ofEarlierSpec reports whether what is known of the use is from before the last change of the spec, which may have changed what
// counts. It is about to be written again, and then decided (W103).
func ofEarlierSpec(ws *v1alpha1.Workspace) bool {
	known := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionInUse)
	return known != nil && known.ObservedGeneration < ws.Generation
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, key)
}

// idleInput is what the idle timers of a Workspace depend on.
func idleInput(ws *v1alpha1.Workspace, lastActivity, now time.Time) lifecycle.IdleInput {
	status := statusconv.Read(ws)
	if claimed := ws.Status.Operation; claimed == nil || claimed.Type == "" { // an unknown one is a change
		status.Operation.Type = lifecycle.None
	}
	return lifecycle.IdleInput{
		Now:     now,
		Desired: lifecycle.State(ws.Spec.DesiredState),
		Status: lifecycle.Status{
			Phase: status.Phase, Operation: status.Operation, RunningSince: status.RunningSince, StandbySince: status.StandbySince,
		},
		Limit:        statusconv.Limit(ws, status.Operation.Type),
		Pause:        ws.Spec.Pause,
		Deleting:     ws.DeletionTimestamp != nil,
		HasStore:     ws.Spec.Archive != nil,
		StandbyTTL:   time.Duration(ws.Spec.StandbyTTLSeconds) * time.Second,
		ArchiveTTL:   time.Duration(ws.Spec.ArchiveTTLSeconds) * time.Second,
		LastActivity: lastActivity,
	}
}
