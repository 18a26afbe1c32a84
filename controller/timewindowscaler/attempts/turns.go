package attempts

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// workersPerReport: one of so many workers reports at a time.
	workersPerReport = 8
	// longestTurn is how long a report waits for the writes of targets.
	longestTurn = time.Minute
	// calledFor is how long who was called keeps others from being called.
	calledFor = 5 * time.Second
)

// turns is the order in which scalers report: write their status and publish their events. Targets are written first.
type turns struct {
	// since is when each scaler had something to report.
	since map[types.NamespacedName]time.Duration
	// line are those that wait, in their order. Some have nothing to report any more.
	line []types.NamespacedName
	// called are those that may report, and since when.
	called map[types.NamespacedName]time.Duration
	// deciding are those in whose pass it may turn out that their target has to be written. While a request of the pass is
	// under way, its lane counts instead.
	deciding map[types.NamespacedName]bool
}

func newTurns() turns {
	return turns{
		since: map[types.NamespacedName]time.Duration{}, called: map[types.NamespacedName]time.Duration{}, deciding: map[types.NamespacedName]bool{},
	}
}

// Decide begins a pass, in which it may turn out that the target has to be written. Decided has to follow, when it is written or
// need not be; it can be called again.
func (a *Attempts) Decide(scaler types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, called := a.turns.called[scaler]; !called { // otherwise those that report would wait for each other
		a.turns.deciding[scaler] = true
	}
}

// Decided follows Decide.
func (a *Attempts) Decided(scaler types.NamespacedName) {
	a.mu.Lock()
	delete(a.turns.deciding, scaler)
	a.unlockAndCall()
}

// Turn reports whether the scaler may report in this pass, which wrote its target or did not. If so, Reported has to follow. If
// not, the scaler is woken when its turn comes: after all that the queue has ready, when no write of a target is under way
// or waits, and after a minute at the latest.
func (a *Attempts) Turn(scaler types.NamespacedName, wrote bool) bool {
	a.mu.Lock()
	defer a.unlockAndCall()
	now, t := a.Elapsed(), &a.turns
	since, waits := t.since[scaler]
	if !waits {
		t.since[scaler] = now
		t.line = append(t.line, scaler)
		return false
	}
	_, called := t.called[scaler]
	switch late := now-since >= longestTurn; {
	case called && (late || !wrote && a.open()):
		return true
	case called:
		t.back(scaler)
	case late && a.free() > 0:
		t.called[scaler] = now
		return true
	}
	return false
}

// Waits reports whether the scaler has yet to report, so that it is woken once more.
func (a *Attempts) Waits(scaler types.NamespacedName) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, waits := a.turns.since[scaler]
	return waits
}

// Reported ends a turn.
func (a *Attempts) Reported(scaler types.NamespacedName) {
	a.mu.Lock()
	a.turns.leave(scaler)
	a.unlockAndCall()
}

// unlockAndCall calls those whose turn it is now.
func (a *Attempts) unlockAndCall() {
	first, last := a.call(a.Elapsed())
	a.mu.Unlock()
	a.wake(first, last)
}

// wake puts scalers at both ends of the queue.
func (a *Attempts) wake(first, last []types.NamespacedName) {
	if len(first) > 0 {
		a.Wake(first...)
	}
	if len(last) > 0 {
		a.WakeLast(last...)
	}
}

// call returns the scalers whose turn it is: first those that have waited too long. The lock is held.
func (a *Attempts) call(now time.Duration) (first, last []types.NamespacedName) {
	t := &a.turns
	for free := a.free(); free > 0 && len(t.line) > 0; {
		scaler := t.line[0]
		since, waits := t.since[scaler]
		late := now-since >= longestTurn
		if _, called := t.called[scaler]; called || !waits {
			t.line = t.line[1:]
			continue
		}
		if !late && !a.open() {
			break
		}
		t.line = t.line[1:]
		t.called[scaler] = now
		if free--; late {
			first = append(first, scaler)
		} else {
			last = append(last, scaler)
		}
	}
	return first, last
}

// open reports whether all targets are written. The lock is held.
func (a *Attempts) open() bool { return a.total.due == 0 && len(a.turns.deciding) == 0 }

// free is how many more scalers may report. The lock is held.
func (a *Attempts) free() int {
	return max(a.Workers/workersPerReport, 1) - len(a.turns.called) - a.total.reports
}

// sending leaves it to the lane to count a scaler whose request is under way.
func (t *turns) sending(id ID) {
	delete(t.deciding, id.Scaler)
	if id.Work == WriteStatus {
		delete(t.called, id.Scaler)
	}
}

// back puts one that was called to the head of the line: it has waited longest.
func (t *turns) back(scaler types.NamespacedName) {
	delete(t.called, scaler)
	t.line = slices.Insert(t.line, 0, scaler)
}

// leave forgets one that has nothing to report.
func (t *turns) leave(scaler types.NamespacedName) {
	delete(t.since, scaler)
	delete(t.called, scaler)
}

// expire puts back those that were called and have not come.
func (t *turns) expire(now time.Duration) {
	for scaler, at := range t.called {
		if now-at >= calledFor {
			t.back(scaler)
		}
	}
}
