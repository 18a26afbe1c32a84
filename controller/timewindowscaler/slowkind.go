package timewindowscaler

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// scalePatience bounds one request for the scale of a further kind: what serves it may hang, be it an
	// API behind the aggregator or a conversion webhook, and must not hold up the flips of others.
	scalePatience = 5 * time.Second
	// slowFor is how long a kind that did not answer in time is left alone.
	slowFor = 30 * time.Second
)

// errSlowKind says that a kind did not answer a moment ago, and was not asked again.
var errSlowKind = errors.New("the API of the target's kind did not answer in time a moment ago")

// slowKinds are the kinds that did not answer in time. One request at a time tries whether such a kind
// answers again, so that it takes one worker and not all.
type slowKinds struct {
	mu    sync.Mutex
	since map[schema.GroupVersionKind]time.Time
}

// ask makes a request about a kind. recovered is true if it is the first that was answered again.
func (s *slowKinds) ask(ctx context.Context, kind schema.GroupVersionKind, now time.Time, request func(context.Context) error) (recovered bool, err error) {
	if !s.enter(kind, now) {
		return false, errSlowKind
	}
	bounded, cancel := context.WithTimeout(ctx, scalePatience)
	defer cancel()
	err = request(bounded)
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
