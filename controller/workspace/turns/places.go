package turns

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// places are the calls that may be in progress, and the Workspaces that wait for one. Whenever the lock is free, there is no place
// for any of those that wait.
type places struct {
	limits Limits
	wake   func(...types.NamespacedName)

	mu sync.Mutex
	// held has the Secret for each Workspace with a place. granted are those that have not used it yet.
	held    map[types.NamespacedName]types.NamespacedName
	granted map[types.NamespacedName]bool
	// stores and namespaces count the places of each.
	stores     map[types.NamespacedName]int
	namespaces map[string]int
	// waiting are the Workspaces of each namespace that wait, the first one first; order are these namespaces.
	waiting map[string][]waiter
	order   []string
}

type waiter struct{ of, secret types.NamespacedName }

func newPlaces(limits Limits, wake func(...types.NamespacedName)) places {
	return places{
		limits: limits, wake: wake, held: map[types.NamespacedName]types.NamespacedName{}, granted: map[types.NamespacedName]bool{},
		stores: map[types.NamespacedName]int{}, namespaces: map[string]int{}, waiting: map[string][]waiter{},
	}
}

// take takes a place for a call of a Workspace. If there is none, the Workspace waits, and take reports false.
func (p *places) take(of, secret types.NamespacedName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.granted[of] {
		delete(p.granted, of)
		return true
	}
	line := p.waiting[of.Namespace]
	waits := slices.ContainsFunc(line, func(w waiter) bool { return w.of == of })
	if !waits && p.room(secret) {
		p.hold(of, secret)
		return true
	}
	if !waits {
		if len(line) == 0 {
			p.order = append(p.order, of.Namespace)
		}
		p.waiting[of.Namespace] = append(line, waiter{of, secret})
	}
	return false
}

// leave gives back the place of a Workspace, used or not, and wakes those that have one now.
func (p *places) leave(of types.NamespacedName) {
	p.mu.Lock()
	secret, ok := p.held[of]
	if !ok {
		p.mu.Unlock()
		return
	}
	delete(p.held, of)
	delete(p.granted, of)
	decrease(p.stores, secret)
	decrease(p.namespaces, secret.Namespace)
	woken := p.grant()
	p.mu.Unlock()
	p.wake(woken...)
}

// grant gives free places to those that wait, one namespace after the other.
func (p *places) grant() (woken []types.NamespacedName) {
	for i := 0; i < len(p.order) && len(p.held) < p.limits.All; {
		namespace := p.order[i]
		line := p.waiting[namespace]
		next := slices.IndexFunc(line, func(w waiter) bool { return p.room(w.secret) })
		if next < 0 {
			i++
			continue
		}
		first := line[next]
		p.hold(first.of, first.secret)
		p.granted[first.of] = true
		woken = append(woken, first.of)
		p.order = slices.Delete(p.order, i, i+1)
		if line = slices.Delete(line, next, next+1); len(line) == 0 {
			delete(p.waiting, namespace)
			continue
		}
		p.waiting[namespace] = line
		p.order = append(p.order, namespace)
	}
	return woken
}

func (p *places) room(secret types.NamespacedName) bool {
	return len(p.held) < p.limits.All && p.namespaces[secret.Namespace] < p.limits.Namespace && p.stores[secret] < p.limits.Store
}

func (p *places) hold(of, secret types.NamespacedName) {
	p.held[of] = secret
	p.stores[secret]++
	p.namespaces[secret.Namespace]++
}

func decrease[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
