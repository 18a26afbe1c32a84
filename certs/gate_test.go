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
}

func newScene() *scene {
	s := &scene{now: noon, published: true}
	s.gate = &gate{
		newest:    func() *tls.Certificate { return s.issued },
		published: func(*tls.Certificate, time.Time) bool { return s.published },
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

func TestGateDoesNotServeAnEndedLeaf(t *testing.T) {
	for name, c := range map[string]struct {
		published bool
		left      time.Duration
		turn      bool
	}{
		"published, one pace left":          {true, testPace, false},
		"published, less than a pace left":  {true, testPace - time.Second, true},
		"unpublished, in its last second":   {false, 0, false},
		"unpublished, and the old one over": {false, -time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			old := s.issue(time.Hour)
			s.look()
			s.now = s.now.Add(time.Hour - c.left)
			s.published = c.published
			renewed := s.issue(time.Hour)
			want := old
			if c.turn {
				want = renewed
			}
			if s.look() != want {
				t.Errorf("turned = %t, want %t", !c.turn, c.turn)
			}
		})
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

// TestGateProperties: whatever is issued and published when, a good leaf is never
// given up for one that may be refused, and a trusted new one is served in the end.
func TestGateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScene()
		served := s.issue(time.Hour)
		s.look()
		var order []*tls.Certificate
		trustedSince := map[*tls.Certificate]time.Time{}
		note := func(leaf *tls.Certificate) { order, trustedSince[leaf] = append(order, leaf), s.now }
		note(served)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.now = s.now.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "tenths")) * time.Second / 10)
			if rapid.Bool().Draw(t, "issue") {
				note(s.issue(time.Duration(rapid.IntRange(1, 60).Draw(t, "life")) * time.Minute))
			}
			if s.published = rapid.IntRange(0, 3).Draw(t, "published") > 0; !s.published {
				for leaf := range trustedSince {
					delete(trustedSince, leaf) // and older ones are forgotten
				}
			} else if trustedSince[s.issued].IsZero() {
				trustedSince[s.issued] = s.now
			}
			before, got := served, s.look()
			served = got
			left := before.Leaf.NotAfter.Sub(s.now)
			if slices.Index(order, got) < slices.Index(order, before) {
				t.Fatal("went back to an older leaf")
			}
			trustedFor := s.now.Sub(trustedSince[got])
			if got != before && left >= 0 && (!s.published || left >= testPace && trustedFor < testPace) {
				t.Fatalf("turned with %s left, published %t for %s", left, s.published, trustedFor)
			}
			for leaf, since := range trustedSince {
				if s.now.Sub(since) >= testPace && slices.Index(order, got) < slices.Index(order, leaf) {
					t.Fatalf("a leaf newer than the one served has been published for %s", s.now.Sub(since))
				}
			}
		}
	})
}
