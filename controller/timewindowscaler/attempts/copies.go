package attempts

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// copyAfter is how long a request is awaited before a copy of it is sent, and how long each copy is awaited before the
// next.
const copyAfter = 3 * time.Second

// errAnswered ends a request because a copy of it was answered.
var errAnswered = errors.New("a copy of the request was answered")

// request is under way.
type request struct {
	lane Lane
	// started is when it was sent first, and sent when it or its last copy was.
	started, sent time.Duration
	cancel        context.CancelCauseFunc
	// again sends a copy.
	again func()
	// deciding: the pass is one of turns.deciding again when this one ends.
	deciding bool
	// copyAnswered: the answer is that to a copy.
	copyAnswered bool
}

// copies are a request and what is sent again while it hangs. Whatever made it hang may be over, and what got lost
// is never answered. The request itself is still awaited, because a slow webhook may answer it. The first answer to
// any of them counts. At most one write is carried out, because all of them name the same resourceVersion.
type copies[T any] struct {
	send   func(context.Context) (T, error)
	ctx    context.Context // of the request itself
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	last sent
	// answered: a copy was, with answer and err.
	answered bool
	answer   T
	err      error
}

// sent is a copy. ended is closed when it has ended.
type sent struct {
	stop  context.CancelFunc
	ended <-chan struct{}
}

// Do sends one request for the work, unless it has to wait, and again while it hangs; see copies. What fails comes
// back as a *Trouble, except what is to be repeated at once (failure.IsStale) and the end of ctx.
func Do[T any](ctx context.Context, a *Attempts, id ID, of Lane, cause Cause, send func(context.Context) (T, error)) (answer T, err error) {
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &copies[T]{send: send, ctx: bounded, cancel: cancel}
	r, err := a.begin(id, of, cause, cancel)
	if err != nil {
		return answer, err
	}
	a.mu.Lock()
	r.again = c.again
	a.mu.Unlock()
	answer, err = c.first()
	switch reason := context.Cause(bounded); {
	case err != nil && errors.Is(reason, errBack):
		err = errBack
	case errors.Is(reason, errAnswered):
		r.copyAnswered = true
	}
	return answer, a.end(ctx, id, r, cause, err)
}

// first sends the request and returns the first answer to it or to a copy.
func (c *copies[T]) first() (T, error) {
	answer, err := c.send(c.ctx)
	if err == nil {
		return answer, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		return c.answer, c.err
	}
	return answer, err
}

// again gives up the copy before, and sends one when that has ended.
func (c *copies[T]) again() {
	ctx, stop := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	c.mu.Lock()
	before := c.last
	c.last = sent{stop, ended}
	c.mu.Unlock()
	go func() {
		defer close(ended)
		defer stop()
		if before.stop != nil {
			before.stop()
			<-before.ended
		}
		answer, err := c.send(ctx)
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return // that is no answer
		}
		c.mu.Lock()
		if !c.answered {
			c.answered, c.answer, c.err = true, answer, err
		}
		c.mu.Unlock()
		c.cancel(errAnswered)
	}()
}

// hanging returns what sends a copy of the oldest request in each lane, if that hangs.
func (a *Attempts) hanging() (again []func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := map[Lane]*request{}
	for r := range a.requests {
		first := oldest[r.lane]
		if first == nil || cmp.Or(cmp.Compare(r.started, first.started), cmp.Compare(first.sent, r.sent)) < 0 {
			oldest[r.lane] = r
		}
	}
	now := a.Elapsed()
	for _, r := range slices.SortedFunc(maps.Values(oldest), func(a, b *request) int { return cmp.Compare(a.sent, b.sent) }) {
		if waited := now - r.sent; waited >= copyAfter && a.took.isSlow(waited) && len(again) < perSecond {
			r.sent = now
			again = append(again, r.again)
		}
	}
	return again
}

// sentBefore returns what sends a copy of each request that was sent before the one whose answer has come, in the
// same lane. The lock is held.
func (a *Attempts) sentBefore(answered *request, now time.Duration) (again []func()) {
	for r := range a.requests {
		if r.lane == answered.lane && r.sent < answered.sent {
			r.sent = now
			again = append(again, r.again)
		}
	}
	return again
}
