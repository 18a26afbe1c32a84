package store

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"kyklos.io/kyklos/internal/archive/endpoints"
)

const (
	// tolerated is how many calls in a row may stay without an answer before the store is given a rest.
	tolerated = 3
	// firstRest and longestRest are how long it is not called then; each further call without an answer doubles it.
	firstRest   = 5 * time.Second
	longestRest = time.Minute
)

// breaker keeps calls from a store that does not answer, so that it takes no time of others and its Workspaces learn of it at
// once (W60). After a rest, one call at a time finds out whether it answers again.
type breaker struct {
	mu sync.Mutex
	// failures counts the calls in a row without an answer, and last is why the last one had none.
	failures int
	last     error
	until    time.Time
	probing  bool
}

// check returns an error while the store is not to be called.
func (b *breaker) check(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed(now)
}

func (b *breaker) closed(now time.Time) error {
	left := b.until.Sub(now)
	if b.failures < tolerated || !b.probing && (left <= 0 || left > longestRest) { // the clock may have been set back
		return nil
	}
	return &restingError{failures: b.failures, until: b.until, last: b.last}
}

// begin begins a call, unless the store is not to be called. probe is for end.
func (b *breaker) begin(now time.Time) (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.closed(now); err != nil {
		return false, err
	}
	probe = b.failures >= tolerated
	b.probing = b.probing || probe // one of an earlier rest may be in progress
	return probe, nil
}

// end ends a call with its error. A call that the caller gave up says nothing.
func (b *breaker) end(now time.Time, probe, givenUp bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch {
	case givenUp:
	case !unanswered(err):
		b.failures = 0
	case probe || b.failures < tolerated:
		b.last = err
		b.failures++
		b.until = now.Add(min(firstRest<<min(max(b.failures-tolerated, 0), 8), longestRest))
	}
}

// unanswered reports whether there was no connection, or no answer in time. A refusal is an answer, and one by the manager's own rules
// takes no time.
func unanswered(err error) bool {
	if _, refused := errors.AsType[*endpoints.Refused](err); refused {
		return false
	}
	_, sent := errors.AsType[*url.Error](err)
	return sent || errors.Is(err, context.DeadlineExceeded)
}
