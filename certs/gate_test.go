package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const testPace = time.Minute

// scene drives a gate by hand: what is issued, what is published, what time it is.
type scene struct {
	*gate
	now       time.Time
	issued    *tls.Certificate
	published bool
	// unknown are leaves whose CA no bundle holds yet.
	unknown map[*tls.Certificate]bool
}

func newScene() *scene {
	s := &scene{now: noon, published: true, unknown: map[*tls.Certificate]bool{}}
	s.gate = &gate{
		newest:    func() *tls.Certificate { return s.issued },
		published: func(pair *tls.Certificate, _ time.Time) bool { return s.published && !s.unknown[pair] },
		pace:      testPace,
	}
	return s
}

// issue makes a leaf the source's newest one.
func (s *scene) issue(life time.Duration) *tls.Certificate {
	s.issued = &tls.Certificate{Leaf: &x509.Certificate{NotBefore: s.now, NotAfter: s.now.Add(life)}}
	return s.issued
}

func (s *scene) look() *tls.Certificate { return s.serve(s.now) }

func (s *scene) after(d time.Duration) *tls.Certificate {
	s.now = s.now.Add(d)
	return s.look()
}

func TestGateFirstLeafIsServedAtOnce(t *testing.T) {
	s := newScene()
	s.published = false
	if s.look() != nil {
		t.Fatal("a leaf is served before one is issued")
	}
	if first := s.issue(time.Hour); s.look() != first {
		t.Fatal("the first leaf is held back although there is nothing better")
	}
}

func TestGateHoldsRenewedLeafForOnePace(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	s.look()
	s.now = s.now.Add(40 * time.Minute)
	renewed := s.issue(time.Hour)

	if s.look() != old || s.after(testPace-time.Second) != old {
		t.Fatal("served before a slower clock has reached its NotBefore")
	}
	if s.after(time.Second) != renewed {
		t.Fatal("not served after one pace")
	}
}

func TestGateHoldsLeafOfUnpublishedCA(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	s.look()
	s.published = false
	renewed := s.issue(time.Hour)
	if s.look() != old || s.after(30*time.Minute) != old {
		t.Fatal("served although a bundle does not trust it")
	}

	s.published = true
	if s.look() != old {
		t.Fatal("served at the moment of publishing: API servers are behind")
	}
	s.published = false // Somebody takes the caBundle away again,
	s.after(testPace)
	s.published = true // and it is put back: the pace begins anew.
	if s.look() != old || s.after(testPace-time.Second) != old {
		t.Fatal("the pace did not begin anew")
	}
	if s.after(time.Second) != renewed {
		t.Fatal("not served after one pace of trust")
	}
}

// What is new replaces what is about to end as soon as it is no less sure.
func TestGateDoesNotServeAnEndedLeaf(t *testing.T) {
	const half = testPace / 2
	for name, c := range map[string]struct {
		known     bool          // the new one's CA
		life      time.Duration // of the new one
		left, age time.Duration // of the old one to its end, of the new one since its issue
		turn      bool
	}{
		"a pace left":                            {true, time.Hour, testPace, testPace - time.Second, false},
		"longer left than the new one was known": {true, time.Hour, half, half - time.Second, false},
		"as long left":                           {true, time.Hour, half, half, true},
		"only just known, in its last second":    {true, time.Hour, time.Second, 0, false},
		"only just known, and the old one over":  {true, time.Hour, 0, 0, true},
		"the new one ends before":                {true, testPace, half, testPace - 10*time.Second, false},
		"the new one ends before, a pace old":    {true, testPace + 10*time.Second, half, testPace, false},
		"unknown, in its last second":            {false, time.Hour, 0, testPace, false},
		"unknown, and the old one over":          {false, time.Hour, -time.Second, testPace, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			old := s.issue(time.Hour)
			s.look()
			s.now = s.now.Add(time.Hour - c.left - c.age)
			renewed := s.issue(c.life)
			s.unknown[renewed] = !c.known
			want := old
			if c.turn {
				want = renewed
			}
			if s.look() != want && c.age == 0 || s.after(c.age) != want {
				t.Errorf("turned = %t, want %t", !c.turn, c.turn)
			}
		})
	}
}

// The CA is replaced while a leaf of the old one waits, and published just when the one before it has as
// little left as the waiting one has been trusted for.
func TestGatePrefersTheLeafTrustedForLongest(t *testing.T) {
	s := newScene()
	first := s.issue(6 * testPace)
	s.look()
	s.now = s.now.Add(4 * testPace)
	second := s.issue(6 * testPace)
	if s.look() != first {
		t.Fatal("served without a pace")
	}
	s.now = s.now.Add(testPace / 2)
	third := s.issue(6 * testPace)
	s.unknown[third] = true
	s.look()
	s.unknown[third] = false
	if got := s.after(testPace/2 + time.Second); got == third {
		t.Fatal("a leaf is served that was published this instant, and one that has waited for its pace is not")
	} else if got != second {
		t.Fatal("the leaf that has waited for its pace is not served")
	}
	if s.after(testPace-time.Second) != second || s.after(time.Second) != third {
		t.Fatal("the leaf of the new CA is not served after a pace of its own")
	}
}

// Who replaces a CA instead of adding one has the old leaf refused: there is nothing to wait for.
func TestGateGivesUpALeafThatIsNotTrustedAnyMore(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	var trusted *tls.Certificate
	s.gate.published = func(pair *tls.Certificate, _ time.Time) bool { return pair == trusted }
	trusted = old
	s.look()
	renewed := s.issue(time.Hour)
	if s.after(10*testPace) != old {
		t.Fatal("served although no bundle trusts it")
	}
	trusted = renewed
	if s.look() != renewed {
		t.Error("a leaf that nobody trusts any more is kept beside one that everybody does")
	}
}

// Leaves that come faster than one in a pace do not put each other off.
func TestGateKeepsUpWithFastRenewals(t *testing.T) {
	s := newScene()
	first := s.issue(time.Hour)
	s.look()
	second := s.issue(time.Hour)
	s.look()
	s.after(testPace / 2)
	third := s.issue(time.Hour)
	if s.look() != first || s.after(testPace/2) != second || s.after(testPace/2) != third {
		t.Fatal("each is to be served one pace after its own issue")
	}
}

// world is what a property test knows of a scene's leaves.
type world struct {
	*scene
	order []*tls.Certificate
	since map[*tls.Certificate]time.Time // published without a break; missing while they are not
}

// step lets time pass and things happen: a leaf is issued, by the CA of the one before or by a new one; a
// new CA is published; somebody takes all bundles away or brings them back.
func (w *world) step(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "tenths")) * time.Second / 10)
	if rapid.Bool().Draw(t, "issue") {
		before := w.issued
		w.order = append(w.order, w.issue(time.Duration(rapid.IntRange(1, 60).Draw(t, "life"))*time.Minute))
		w.unknown[w.issued] = w.unknown[before] || rapid.IntRange(0, 2).Draw(t, "new CA") == 0
	}
	if rapid.Bool().Draw(t, "publish") {
		w.unknown = map[*tls.Certificate]bool{}
	}
	w.published = rapid.IntRange(0, 5).Draw(t, "published") > 0
	for _, leaf := range w.order {
		if trusted := w.gate.published(leaf, w.now); !trusted {
			delete(w.since, leaf)
		} else if _, known := w.since[leaf]; !known {
			w.since[leaf] = w.now
		}
	}
	w.order = slices.DeleteFunc(w.order, func(leaf *tls.Certificate) bool { // neither new nor published: forgotten
		_, known := w.since[leaf]
		return !known && leaf != w.issued && leaf != w.gate.served
	})
}

// ahead is how far an API server may be behind in its watch or ahead by its clock for a leaf that is not
// served yet, and as far as anybody cares; none while it is not published.
func (w *world) ahead(leaf *tls.Certificate) (time.Duration, bool) {
	since, known := w.since[leaf]
	return min(testPace, w.now.Sub(since), leaf.Leaf.NotAfter.Sub(w.now)), known
}

// TestGateProperties: whatever is issued and published when, no leaf is given up for one that is more
// likely to be refused, and none is kept beside one that is less or as likely.
func TestGateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{scene: newScene(), since: map[*tls.Certificate]time.Time{}}
		w.order = append(w.order, w.issue(time.Hour))
		served := w.look()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
			before, got := served, w.look()
			served = got
			newer := w.order[slices.Index(w.order, before)+1:]
			left, trusted := min(testPace, before.Leaf.NotAfter.Sub(w.now)), w.gate.published(before, w.now)
			sure, known := w.ahead(got)
			switch {
			case got == before:
			case !slices.Contains(newer, got):
				t.Fatal("went back to an older leaf")
			case trusted && left >= 0 && (!known || sure < left):
				t.Fatalf("gave up %s that were left for a leaf sure for %s, published %t", left, sure, known)
			}
			if got == before {
				sure, known = left, trusted
			}
			for _, leaf := range w.order[slices.Index(w.order, got)+1:] {
				better, known := w.ahead(leaf)
				if known && better >= max(sure, 0) {
					t.Fatalf("a newer leaf is sure for %s, the served one for %s", better, sure)
				}
			}
		}
	})
}
