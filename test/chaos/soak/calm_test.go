package soak

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// It is calm while no fault is active, a manager leads, and it has done so for as long as it may take to begin.

// disturbed records that it has not been calm until now.
func (s *soak) disturbed(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.After(s.calmSince) {
		s.calmSince = now
	}
}

// progress records that a manager has written something.
func (s *soak) progress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progressed = time.Now()
}

// settled records that at a time everything was as it should be.
func (s *soak) settled(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == 0 && s.settledAt.Before(s.calmSince) && at.After(s.calmSince) {
		s.recovered = append(s.recovered, at.Sub(s.faultless))
		s.settledAt = at
	}
}

// calm waits until everything is as it should be, or was reported, or could not be judged for too long.
func (s *soak) calm() {
	for end := time.Now().Add(limit + 2**patience); time.Now().Before(end); {
		s.mu.Lock()
		settled := s.settledAt.After(s.calmSince)
		s.mu.Unlock()
		if settled || !s.pause(time.Second) {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsettled++
}

// pause waits. It returns false if the run is over.
func (s *soak) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.Context().Done():
		return false
	}
}

// try calls until there is no error, while the API server may be away.
func (s *soak) try(call func(ctx context.Context) error) {
	for {
		ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
		err := call(ctx)
		cancel()
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
			s.failed("a call of the test is refused: %v", err)
			return
		}
		if err == nil || !s.pause(500*time.Millisecond) {
			return
		}
	}
}
