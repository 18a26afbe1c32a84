package workspace

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kyklos.io/kyklos/test/controlplane"
)

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
	// concerns says which requests are counted and held.
	concerns func(moment) bool
	// strike, if there is one, is called at a chosen moment, which then is not held: it is cut off at once.
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
	g.counts, g.past, g.chosen = map[string]map[string]int{}, map[string][]moment{}, chosen
	g.held, g.struck = map[string]chan struct{}{}, nil
}

// open lets everybody go on whom it held, and chooses nobody else. What was held is cut off: not sent, or
// its answer lost.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, held := range g.held {
		close(held)
	}
	g.held, g.chosen = map[string]chan struct{}{}, nil
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
	g.seen(name, m)
	held, hit := g.arrive(name, &m)
	switch {
	case hit && g.strike != nil:
		g.strike(name, m)
	case held != nil:
		<-held
	default:
		return
	}
	panic(http.ErrAbortHandler)
}

// arrive counts m and says whether the Workspace is held now, and whether m is the moment chosen for it.
func (g *gate) arrive(name string, m *moment) (held chan struct{}, hit bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.concerns(*m) {
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
	if g.strike == nil {
		g.held[name] = make(chan struct{})
	}
	return g.held[name], true
}

var (
	ours      = regexp.MustCompile(`ws-(c\d\d)`)
	workspace = regexp.MustCompile(`/workspaces/(c\d\d)`)
)

// api is the gate's part before the API server. Of events it takes no notice: nothing rests on them.
func (g *gate) api(r controlplane.Request, after bool) {
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
