package kindwatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// RequestTimeout bounds one request about an object of a further kind: what serves it may hang, be it
	// an aggregated API or a conversion webhook, and must not delay other scalers.
	RequestTimeout = 5 * time.Second
	// slowFor is how long a kind that timed out is left alone.
	slowFor = 30 * time.Second
)

// ErrSlow means that a kind timed out recently and that no request was sent.
var ErrSlow = errors.New("the API of the target's kind timed out recently")

// slowKinds are the kinds that timed out. One request at a time tests whether such a kind answers again, so
// that it takes one worker and not all.
type slowKinds struct {
	mu    sync.Mutex
	since map[schema.GroupVersionKind]time.Time
}

// request sends a request about a kind. recovered is true for the first that is answered after a timeout.
func (s *slowKinds) request(ctx context.Context, kind schema.GroupVersionKind, now time.Time, send func(context.Context) error) (recovered bool, err error) {
	if !s.enter(kind, now) {
		return false, ErrSlow
	}
	bounded, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	err = send(bounded)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && bounded.Err() != nil {
		if s.since == nil {
			s.since = map[schema.GroupVersionKind]time.Time{}
		}
		s.since[kind] = now
		return false, err
	}
	_, recovered = s.since[kind]
	delete(s.since, kind)
	return recovered, err
}

func (s *slowKinds) enter(kind schema.GroupVersionKind, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, slow := s.since[kind]
	if age := now.Sub(since); slow && age >= 0 && age < slowFor {
		return false
	}
	if slow {
		s.since[kind] = now
	}
	return true
}
