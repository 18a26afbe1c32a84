package chaos

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kyklos.io/kyklos/test/harness"
)

// victim is a process that is killed.
type victim struct {
	name string
	// concerns selects the requests around which it is killed.
	concerns func(moment) bool
	// kill kills it for all Workspaces, calls dead, and starts it again. It is nil if each Workspace has its own
	// process; see gate.killOne.
	kill func(c *cohort, dead func())
	// some and all are how many Workspaces it is killed for, once in each step, with -crashes=some and =all.
	some, all int
}

// moment is a point in one step of a Workspace's life: before or after the nth request of a kind.
type moment struct {
	// actor sends the request: manager or mover.
	actor string
	// what is the kind, for example "DELETE persistentvolumeclaims" or "PUT part".
	what string
	// stored: the request goes to the object store, not to the API server. reads: it changes nothing.
	stored, reads bool
	nth           int
	after         bool
}

func (m moment) String() string {
	side := "before"
	if m.after {
		side = "after"
	}
	return fmt.Sprintf("%s the %s's %s number %d", side, m.actor, m.what, m.nth)
}

// gate counts all requests about some Workspaces, and holds each Workspace at the moment chosen for it. No request that
// concerns the Workspace's victim passes until the gate releases it.
type gate struct {
	// victims are the processes to kill, by Workspace.
	victims map[string]*victim
	// killOne kills a process of one Workspace.
	killOne func(name string, m moment)
	// seen is called before and after every request.
	seen func(name string, m moment)

	mu     sync.Mutex
	counts map[string]map[string]int
	past   map[string][]moment
	chosen map[string]moment
	held   map[string]chan struct{}
	hits   []moment
}

// reset begins a step with the moments chosen for it.
func (g *gate) reset(chosen map[string]moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts, g.past, g.chosen = map[string]map[string]int{}, map[string][]moment{}, maps.Clone(chosen)
	g.held, g.hits = map[string]chan struct{}{}, nil
}

// release aborts the requests held for a victim, or all if it is nil: they are not sent, or their answers get lost.
func (g *gate) release(v *victim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, held := range g.held {
		if v == nil || g.victims[name] == v {
			close(held)
			delete(g.held, name)
		}
	}
}

// isHolding reports whether a request is held for the victim.
func (g *gate) isHolding(v *victim) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.held {
		if g.victims[name] == v {
			return true
		}
	}
	return false
}

func (g *gate) holds(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[name] != nil
}

// history returns the moments of a Workspace in this step, and the moments of all kills.
func (g *gate) history(name string) (past, hits []moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.past[name]), slices.Clone(g.hits)
}

// request is called before and after each request. It does not return if the request is to be aborted.
func (g *gate) request(name string, m moment) {
	held, hit := g.arrive(name, &m)
	g.seen(name, m)
	switch {
	case held != nil:
		<-held
	case hit:
		g.killOne(name, m)
	default:
		return
	}
	panic(http.ErrAbortHandler)
}

// arrive counts m. It reports whether the Workspace is held, and whether m is the moment chosen for it.
func (g *gate) arrive(name string, m *moment) (held chan struct{}, hit bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.victims[name]
	if v != nil && !v.concerns(*m) {
		return nil, false
	}
	if held := g.held[name]; held != nil {
		return held, false
	}
	kind := m.actor + " " + m.what
	if g.counts[name] == nil {
		g.counts[name] = map[string]int{}
	}
	if !m.after {
		g.counts[name][kind]++
	}
	if m.nth = g.counts[name][kind]; m.nth == 0 {
		return nil, false // the answer to a request of the step before
	}
	g.past[name] = append(g.past[name], *m)
	if chosen, any := g.chosen[name]; !any || chosen != *m {
		return nil, false
	}
	delete(g.chosen, name)
	g.hits = append(g.hits, *m)
	if v.kill != nil {
		g.held[name] = make(chan struct{})
	}
	return g.held[name], true
}

var (
	ownObject = regexp.MustCompile(`ws-(c\d\d)`)
	workspace = regexp.MustCompile(`/workspaces/(c\d\d)`)
)

// api is the gate in front of the API server. It ignores events: nothing depends on them.
func (g *gate) api(r harness.Request, after bool) {
	_, rest, namespaced := strings.Cut(r.Path, "/namespaces/")
	parts := strings.Split(rest, "/")
	if r.Method == http.MethodGet || !namespaced || len(parts) < 2 || parts[1] == "events" || parts[1] == "leases" {
		return
	}
	found := workspace.FindStringSubmatch(r.Path)
	if found == nil {
		text := r.Path
		if r.Method == http.MethodPost {
			text += r.Body
		}
		found = ownObject.FindStringSubmatch(text)
	}
	if found == nil {
		return
	}
	what := r.Method + " " + parts[1]
	if len(parts) > 3 {
		what += "/" + parts[3]
	}
	g.request(found[1], moment{actor: "manager", what: what, after: after})
}
