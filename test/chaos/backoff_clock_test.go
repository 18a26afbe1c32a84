package chaos

import (
	"sync"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// backoffClock is the managers' clock. It skips back-offs, so that no test waits for their end.
type backoffClock struct {
	harness.Clock
	mu      sync.Mutex
	moved   time.Duration
	skipped map[string]time.Time
}

// reach moves the clock past a time. It returns false if it did so for this Workspace before.
func (m *backoffClock) reach(name string, at time.Time) (moved bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.skipped[name].Equal(at) {
		return false, nil
	}
	m.skipped[name] = at
	if ahead := time.Until(at) + time.Second; ahead > m.moved {
		m.moved = ahead
		return true, m.Shift(ahead)
	}
	return true, nil
}
