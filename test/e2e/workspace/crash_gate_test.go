package workspace

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

// victim is somebody who is killed.
type victim struct {
	name string
	// concerns says which requests it is killed around.
	concerns func(moment) bool
	// kill kills it for all Workspaces, calls dead, and starts it again; nil if each Workspace has its own, see
	// gate.strike.
	kill func(c *crew, dead func())
	// some and all are how many Workspaces it troubles. Each is hit once in each step of its life.
	some, all int
}

// moment is a point in one stage of a Workspace's life: before or after the nth request of a kind.
type moment struct {
	// actor is who sends it: manager or mover.
	actor string
	// what is the kind, for example "DELETE persistentvolumeclaims" or "PUT part".
	what string
	// stored: it goes to the object store, not to the API server. reads: it changes nothing there.
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

// gate stands in the way of all requests about some Workspaces. It counts them, and holds each Workspace
// at the moment that was chosen for it: nothing of what it concerns goes on there until it is opened.
type gate struct {
	// victims are who is killed at a Workspace's moments; nil for nobody.
	victims map[string]*victim
	// strike is called at the moment of a victim that dies alone.
	strike func(name string, m moment)
	// seen is called before and after every request.
	seen func(name string, m moment)

	mu     sync.Mutex
	counts map[string]map[string]int
	past   map[string][]moment
	chosen map[string]moment
	held   map[string]chan struct{}
	struck []moment
}

// next begins a stage, with the moments that are chosen for it.
func (g *gate) next(chosen map[string]moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts, g.past, g.chosen = map[string]map[string]int{}, map[string][]moment{}, maps.Clone(chosen)
	g.held, g.struck = map[string]chan struct{}{}, nil
}

// open lets those go on whom it held for a victim, nil for any. What was held is cut off: not sent, or its
// answer lost.
func (g *gate) open(v *victim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, held := range g.held {
		if v == nil || g.victims[name] == v {
			close(held)
			delete(g.held, name)
		}
	}
}

// waits reports whether somebody is held for the victim.
func (g *gate) waits(v *victim) bool {
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

// history are the moments of a Workspace since the stage began, and those at which something was killed.
func (g *gate) history(name string) (past, struck []moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.past[name]), slices.Clone(g.struck)
}

// request is called around each; it does not return if the request is to be cut off.
func (g *gate) request(name string, m moment) {
	held, hit := g.arrive(name, &m)
	g.seen(name, m)
	switch {
	case held != nil:
		<-held
	case hit:
		g.strike(name, m)
	default:
		return
	}
	panic(http.ErrAbortHandler)
}

// arrive counts m and says whether the Workspace is held now, and whether m is the moment chosen for it.
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
		return nil, false // the answer to the last request of the stage before
	}
	g.past[name] = append(g.past[name], *m)
	if chosen, any := g.chosen[name]; !any || chosen != *m {
		return nil, false
	}
	delete(g.chosen, name)
	g.struck = append(g.struck, *m)
	if v.kill != nil {
		g.held[name] = make(chan struct{})
	}
	return g.held[name], true
}

var (
	ours      = regexp.MustCompile(`ws-(c\d\d)`)
	workspace = regexp.MustCompile(`/workspaces/(c\d\d)`)
)

// api is the gate's part before the API server. Of events it takes no notice: nothing rests on them.
func (g *gate) api(r harness.Request, after bool) {
	_, rest, namespaced := strings.Cut(r.Path, "/namespaces/")
	parts := strings.Split(rest, "/")
	if r.Method == http.MethodGet || !namespaced || len(parts) < 2 || parts[1] == "events" || parts[1] == "leases" {
		return
	}
	found := workspace.FindStringSubmatch(r.Path)
	if found == nil {
		found = ours.FindStringSubmatch(r.Path + r.Body)
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
