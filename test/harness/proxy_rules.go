package harness

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
)

// Match selects requests, or objects in watches. An empty field matches everything.
type Match struct {
	// Verbs are those of authorization: get, list, watch, create, update, patch, delete, deletecollection.
	Verbs []string
	// Resource is a plural, without its group. Subresource is a name, or NoSubresource.
	Resource, Subresource string
	Namespace, Name       string
	// UserAgent is a part of it.
	UserAgent string
}

// NoSubresource matches requests for the object itself.
const NoSubresource = "-"

// Verbs by what they do.
var (
	ReadVerbs  = []string{"get", "list", "watch"}
	WriteVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}
)

func (m Match) matches(r *Request) bool {
	subresource := m.Subresource
	if subresource == NoSubresource {
		subresource = ""
	}
	return (len(m.Verbs) == 0 || slices.Contains(m.Verbs, r.Verb)) && (m.Resource == "" || m.Resource == r.Resource) &&
		(m.Subresource == "" || subresource == r.Subresource) && (m.Namespace == "" || m.Namespace == r.Namespace) &&
		(m.Name == "" || m.Name == r.Name) && strings.Contains(r.UserAgent, m.UserAgent)
}

// Rule injects a fault into some requests.
type Rule struct {
	Match
	// First is the number of the first matching request that is hit; 0 and 1 mean the first. Times is how many are hit
	// from there on; 0 means all.
	First, Times int
	// Fraction, if set, is the share of these that is hit. Which ones depends on the proxy's seed, and not on the order in
	// which requests for different objects arrive.
	Fraction float64
	// Action is what happens to them.
	Action Action
}

// Injection is a rule in force.
type Injection struct {
	rule    Rule
	proxy   *Proxy
	seen    int
	hits    int
	removed chan struct{}
}

// Add puts a rule into force for further requests. If several rules hit a request, the first one is the outermost.
func (p *Proxy) Add(rule Rule) *Injection {
	i := &Injection{rule: rule, proxy: p, removed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, i)
	return i
}

// Seed sets the random seed for Rule.Fraction.
func (p *Proxy) Seed(seed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seed = seed
}

// Remove ends the rule, and what it makes wait. It can be called again.
func (i *Injection) Remove() {
	i.proxy.mu.Lock()
	defer i.proxy.mu.Unlock()
	if at := slices.Index(i.proxy.rules, i); at >= 0 {
		i.proxy.rules = slices.Delete(i.proxy.rules, at, at+1)
		close(i.removed)
	}
}

// Hits returns how many requests the rule has hit.
func (i *Injection) Hits() int {
	i.proxy.mu.Lock()
	defer i.proxy.mu.Unlock()
	return i.hits
}

// through sends a request through the rules that hit it.
func (p *Proxy) through(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
	for _, injection := range slices.Backward(p.hitting(requestOf(r))) {
		inner := forward
		forward = func(w http.ResponseWriter) {
			injection.rule.Action(Exchange{Writer: w, Request: r, Removed: injection.removed, Closed: p.closed}, inner)
		}
	}
	forward(w)
}

// hitting counts r and returns the rules that hit it.
func (p *Proxy) hitting(r *Request) (hit []*Injection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.rules {
		if !i.rule.matches(r) {
			continue
		}
		i.seen++
		past := i.seen - max(i.rule.First, 1)
		if past < 0 || i.rule.Times > 0 && past >= i.rule.Times || i.rule.Fraction > 0 && p.draw(r) >= i.rule.Fraction {
			continue
		}
		i.hits++
		hit = append(hit, i)
	}
	return hit
}

// draw returns a number from 0 to 1 that depends on the random seed, the request, and how many like it there were.
func (p *Proxy) draw(r *Request) float64 {
	like := fmt.Sprintf("%d %s %s", p.seed, r.Verb, r.Path)
	p.counts[like]++
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", like, p.counts[like])
	mixed := hash.Sum64() // its high bits alone hardly depend on the last characters
	mixed ^= mixed >> 33
	mixed *= 0xff51afd7ed558ccd
	mixed ^= mixed >> 33
	return float64(mixed>>11) / (1 << 53)
}
