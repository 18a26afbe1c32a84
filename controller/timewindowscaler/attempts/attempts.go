// Package attempts decides who may send a request now. It keeps those who wait for a slow webhook or API from
// taking the workers of all others, and paces the retries of those whose request failed (B10).
package attempts

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
)

// errBack ends requests that were under way while the API server was away.
var errBack = errors.New("the API server was away while it had this request")

// Attempts is safe for concurrent use.
type Attempts struct {
	// Workers is how many passes run at the same time.
	Workers int
	// Elapsed is the time since some start. Steps of the wall clock do not touch it.
	Elapsed func() time.Duration
	// Probe asks the API server whether it is ready.
	Probe func(context.Context) error
	// Wake puts scalers at the head of the queue, WakeLast at its end.
	Wake, WakeLast func(...types.NamespacedName)
	// Ticks is the channel of a ticker of a second.
	Ticks <-chan time.Time

	mu       sync.Mutex
	lanes    map[Lane]*lane
	entries  map[ID]*entry
	queued   map[ID]*place
	requests map[*request]bool
	// total is the sum over all lanes.
	total  load
	served uint64
	turns  turns
	// away: the last probe failed.
	away bool
	// took follows the answers of all lanes.
	took median
}

// New returns Attempts. elapsed is the time since some start, which steps of the wall clock do not touch.
func New(workers int, elapsed func() time.Duration) *Attempts {
	nobody := func(...types.NamespacedName) {}
	return &Attempts{
		Workers: workers, Elapsed: elapsed, Wake: nobody, WakeLast: nobody,
		lanes: map[Lane]*lane{}, entries: map[ID]*entry{}, queued: map[ID]*place{}, requests: map[*request]bool{},
		turns: newTurns(), took: median(firstMedian),
	}
}

// begin returns the request if it may be sent now.
func (a *Attempts) begin(id ID, of Lane, cause Cause, cancel context.CancelCauseFunc) (*request, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, e := a.Elapsed(), a.entries[id]
	if e != nil && !e.admitted && e.cause == cause {
		return nil, e.trouble(now)
	}
	l := a.lane(of)
	begun := false
	a.change(l, func() {
		if begun = l.begin(now, a.total.doubtful, a.half()); begun {
			l.count(id.Work, 1)
		}
	})
	if !begun {
		since := a.enqueue(l, id, now)
		if e != nil {
			return nil, e.trouble(now)
		}
		return nil, &Trouble{Err: &BusyError{of}, Lasts: now-since >= lastsFrom}
	}
	a.leave(id)
	r := &request{lane: of, started: now, sent: now, cancel: cancel, again: func() {}, deciding: a.turns.deciding[id.Scaler]}
	a.turns.sending(id)
	a.requests[r] = true
	return r, nil
}

// end records how the request ended.
func (a *Attempts) end(ctx context.Context, id ID, r *request, cause Cause, err error) error {
	a.mu.Lock()
	now, before := a.Elapsed(), a.entries[id]
	delete(a.requests, r)
	if r.deciding && id.Work != WriteTarget {
		a.turns.deciding[id.Scaler] = true
	}
	l := a.lane(r.lane)
	took, again := now-r.started, []func(){}
	if r.copyAnswered {
		took, again = now-r.sent, a.sentBefore(r, now)
	}
	a.change(l, func() {
		l.end(now, a.took.isSlow(took), a.half())
		l.count(id.Work, -1)
	})
	if !errors.Is(err, context.DeadlineExceeded) { // that is no answer
		a.took.add(took)
	}
	wake := a.next(l)
	switch {
	case err == nil:
		wake = append(wake, a.succeeded(id, before)...)
	case errors.Is(ctx.Err(), context.Canceled):
	case failure.IsStale(err):
		if before != nil {
			a.admit(id, before)
		}
	default:
		err = a.failed(id, r.lane, cause, now, err)
	}
	first, last := a.call(now)
	a.mu.Unlock()
	a.wake(append(wake, first...), last)
	for _, send := range again {
		send()
	}
	return err
}

// failed records an attempt that failed. The lock is held.
func (a *Attempts) failed(id ID, of Lane, cause Cause, now time.Duration, err error) error {
	e := a.entries[id]
	if e == nil {
		e = &entry{}
		a.entries[id] = e
	}
	delete(a.lane(e.lane).held, id)
	e.lane, e.cause = of, cause
	e.fail(now, err)
	if errors.Is(err, errBack) {
		e.after = 0
	}
	a.lane(of).held[id] = e
	trouble := e.trouble(now)
	trouble.Sent = true
	return trouble
}

// succeeded forgets the failures of work that is done. If there were any, what caused them may have gone: some
// that failed likewise may try again. The lock is held.
func (a *Attempts) succeeded(id ID, before *entry) []types.NamespacedName {
	if before == nil {
		return nil
	}
	a.drop(id)
	var wake []types.NamespacedName
	alike := func(l *lane) {
		for other, e := range l.held {
			if len(wake) < perSuccess && failure.AreAlike(e.err, before.err) {
				a.admit(other, e)
				wake = append(wake, other.Scaler)
			}
		}
	}
	alike(a.lane(before.lane))
	for _, l := range a.lanes {
		if len(wake) == perSuccess {
			break
		}
		alike(l)
	}
	return wake
}

// admit lets held work try again. The lock is held.
func (a *Attempts) admit(id ID, e *entry) {
	l := a.lane(e.lane)
	delete(l.held, id)
	e.admitted = true
	a.served++
	l.served = a.served
}

// Over records that the work is not due any more.
func (a *Attempts) Over(id ID) {
	a.mu.Lock()
	a.drop(id)
	if id.Work == WriteStatus {
		a.turns.leave(id.Scaler)
	}
	a.unlockAndCall()
}

// Forget forgets a scaler that is gone.
func (a *Attempts) Forget(scaler types.NamespacedName) {
	for _, work := range works {
		a.Over(ID{scaler, work})
	}
}

// drop forgets work. The lock is held.
func (a *Attempts) drop(id ID) {
	a.leave(id)
	if e := a.entries[id]; e != nil {
		delete(a.lane(e.lane).held, id)
		delete(a.entries, id)
	}
}
