package workspaceidle

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/lifecycle"
)

// memory is what the Leases said when they were last read, and which times were yet to come. It saves looks at
// Leases, no more: without it, after a restart, each is read again when the time since the start has run out.
type memory struct {
	mu     sync.Mutex
	leases map[types.NamespacedName]*heard
}

type heard struct {
	by   types.UID // the Workspace's
	seen activity.Seen
	// began and active are about the time since which the Workspace is in its state, and the last activity.
	began, active toCome
}

// toCome is a time that was found yet to come, and when. Who wrote it had a clock that was ahead, or ours is behind:
// if it stays so, the idle time runs from when it was found, or it would run for as long as the clocks differed;
// and if it does not, nothing has happened.
type toCome struct {
	time, found time.Time
}

// at returns t, or if that is yet to come at now, since when it is known to be.
func (c *toCome) at(t, now time.Time) time.Time {
	if !t.After(now) {
		*c = toCome{}
		return t
	}
	if !c.time.Equal(t) || c.found.After(now) {
		*c = toCome{t, now}
	}
	return c.found
}

// of returns what was last heard of a Workspace.
func (m *memory) of(ws *v1alpha1.Workspace) activity.Seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about(ws).seen
}

// read adds what lease says now; nil is no Lease.
func (m *memory) read(ws *v1alpha1.Workspace, lease *coordinationv1.Lease, now time.Time) activity.Seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.about(ws)
	known.seen = known.seen.Read(lease, activity.Workspace{UID: ws.UID, Created: ws.CreationTimestamp.Time}, now)
	return known.seen
}

// past returns in with no time that is yet to come.
func (m *memory) past(ws *v1alpha1.Workspace, in lifecycle.IdleInput) lifecycle.IdleInput {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, since := m.about(ws), &in.Status.RunningSince
	if in.Desired == lifecycle.Standby {
		since = &in.Status.StandbySince
	}
	*since, in.LastActivity = known.began.at(*since, in.Now), known.active.at(in.LastActivity, in.Now)
	return in
}

// about returns what is known of a Workspace, to be read and changed while the lock is held.
func (m *memory) about(ws *v1alpha1.Workspace) *heard {
	key := client.ObjectKeyFromObject(ws)
	if m.leases == nil {
		m.leases = map[types.NamespacedName]*heard{}
	}
	if known := m.leases[key]; known == nil || known.by != ws.UID {
		m.leases[key] = &heard{by: ws.UID}
	}
	return m.leases[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, key)
}
