package workspace

import (
	"sync"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// movedClock is the managers' clock.
type movedClock struct {
	harness.Clock
	mu     sync.Mutex
	moved  time.Duration
	nudged map[string]time.Time
}

// reach moves the clock past a time, and reports whether nobody did so for this Workspace before.
func (m *movedClock) reach(name string, at time.Time) (late bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nudged[name].Equal(at) {
		return false, nil
	}
	m.nudged[name] = at
	if ahead := time.Until(at) + time.Second; ahead > m.moved {
		m.moved = ahead
		return true, m.Shift(ahead)
	}
	return true, nil
}
