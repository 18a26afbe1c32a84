package turns

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// shares are the workers that each namespace has. One namespace has half of them at most: a webhook that hangs for its objects keeps a
// worker for each request, for up to half a minute (W79).
type shares struct {
	most int
	wake func(...types.NamespacedName)

	mu      sync.Mutex
	passes  map[string]int
	waiting map[string][]types.NamespacedName
}

func newShares(workers int, wake func(...types.NamespacedName)) shares {
	return shares{most: max(workers/2, 1), wake: wake, passes: map[string]int{}, waiting: map[string][]types.NamespacedName{}}
}

// enter takes a part of the namespace's share. If there is none, the Workspace is woken when there may be one, and enter reports false.
func (s *shares) enter(of types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passes[of.Namespace] >= s.most {
		if line := s.waiting[of.Namespace]; !slices.Contains(line, of) {
			s.waiting[of.Namespace] = append(line, of)
		}
		return false
	}
	s.passes[of.Namespace]++
	return true
}

// enterAgain is for a pass that goes on after a call of a store. It may exceed the share.
func (s *shares) enterAgain(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passes[namespace]++
}

// leave gives back a part, and wakes the one who waits the longest.
func (s *shares) leave(namespace string) {
	s.mu.Lock()
	decrease(s.passes, namespace)
	var woken []types.NamespacedName
	if line := s.waiting[namespace]; len(line) > 0 && s.passes[namespace] < s.most {
		woken = line[:1:1]
		if s.waiting[namespace] = line[1:]; len(line) == 1 {
			delete(s.waiting, namespace)
		}
	}
	s.mu.Unlock()
	s.wake(woken...)
}
