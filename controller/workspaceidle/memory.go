package workspaceidle

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
)

// memory is what the Leases said when they were last read. It saves looks at them, no more: without it,
// after a restart, each is read again when the time since the start has run out.
type memory struct {
	mu     sync.Mutex
	leases map[types.NamespacedName]heard
}

type heard struct {
	by   types.UID // the Workspace's
	seen activity.Seen
}

// of returns what was last heard of a Workspace.
func (m *memory) of(ws *v1alpha1.Workspace) activity.Seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := m.leases[client.ObjectKeyFromObject(ws)]; last.by == ws.UID {
		return last.seen
	}
	return activity.Seen{}
}

// read adds what lease says now; nil is no Lease.
func (m *memory) read(ws *v1alpha1.Workspace, lease *coordinationv1.Lease, now time.Time) activity.Seen {
	seen := m.of(ws).Read(lease, activity.Workspace{UID: ws.UID, Created: ws.CreationTimestamp.Time}, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases == nil {
		m.leases = map[types.NamespacedName]heard{}
	}
	m.leases[client.ObjectKeyFromObject(ws)] = heard{by: ws.UID, seen: seen}
	return seen
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, key)
}
