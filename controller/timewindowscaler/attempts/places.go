package attempts

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// place is one that waits for a lane. inLine is false once it was woken to take its turn.
type place struct {
	lane   *lane
	since  time.Duration
	inLine bool
}

// Wait takes a place in line for a request that will be due soon, if its lane is full, and reports that: a pass would find out
// the same, and take a hundred times as long. A lane that hangs has to be looked at.
func (a *Attempts) Wait(id ID, of Lane) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lane(of)
	if l.hangs || a.entries[id] != nil || l.free(a.half()) > 0 {
		return false
	}
	a.enqueue(l, id, a.Elapsed())
	return true
}

// enqueue adds work to those that wait for a lane, and returns since when it does. The lock is held.
func (a *Attempts) enqueue(l *lane, id ID, now time.Duration) time.Duration {
	p := a.queued[id]
	if p == nil {
		p = &place{lane: l, since: now}
		a.queued[id] = p
		a.occupy(id, p, 1)
	}
	if !p.inLine {
		p.inLine = true
		l.waiting = append(l.waiting, id)
	}
	return p.since
}

// Leave gives up a place in line.
func (a *Attempts) Leave(id ID) {
	a.mu.Lock()
	a.leave(id)
	a.unlockAndCall()
}

// leave gives up a place. The lock is held.
func (a *Attempts) leave(id ID) {
	if p := a.queued[id]; p != nil {
		delete(a.queued, id)
		a.occupy(id, p, -1)
	}
}

// occupy counts the places of those that do not wait for their status. The lock is held.
func (a *Attempts) occupy(id ID, p *place, n int) {
	if id.Work != WriteStatus {
		a.change(p.lane, func() { p.lane.places += n })
	}
}

// next returns the scalers for which a lane has places now. The lock is held.
func (a *Attempts) next(l *lane) []types.NamespacedName {
	var keys []types.NamespacedName
	for ids := l.next(a.half()); len(ids) > 0; ids = ids[1:] {
		if p := a.queued[ids[0]]; p != nil { // otherwise its work is not due any more
			p.inLine = false
			keys = append(keys, ids[0].Scaler)
		}
	}
	return keys
}

// lane returns the state of a lane. The lock is held.
func (a *Attempts) lane(of Lane) *lane {
	l := a.lanes[of]
	if l == nil {
		l = newLane()
		a.lanes[of] = l
	}
	return l
}

// change keeps the sum over all lanes right. The lock is held.
func (a *Attempts) change(l *lane, how func()) {
	before := l.load()
	how()
	a.total = a.total.plus(l.load(), 1).plus(before, -1)
}

func (a *Attempts) half() int { return max(a.Workers/2, 1) }
