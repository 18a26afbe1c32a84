package certs

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"
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

func (s *scene) current() *tls.Certificate { return s.serve(s.now) }

func (s *scene) after(d time.Duration) *tls.Certificate {
	s.now = s.now.Add(d)
	return s.current()
}

func TestGateFirstLeafIsServedAtOnce(t *testing.T) {
	s := newScene()
	s.published = false
	if s.current() != nil {
		t.Fatal("a leaf is served before one is issued")
	}
	if first := s.issue(time.Hour); s.current() != first {
		t.Fatal("the first leaf is held back although there is nothing better")
	}
}

func TestGateHoldsRenewedLeafForOnePace(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	s.current()
	s.now = s.now.Add(40 * time.Minute)
	renewed := s.issue(time.Hour)

	if s.current() != old || s.after(testPace-time.Second) != old {
		t.Fatal("served before a slower clock has reached its NotBefore")
	}
	if s.after(time.Second) != renewed {
		t.Fatal("not served after one pace")
	}
}

func TestGateHoldsLeafOfUnpublishedCA(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	s.current()
	s.published = false
	renewed := s.issue(time.Hour)
	if s.current() != old || s.after(30*time.Minute) != old {
		t.Fatal("served although a bundle does not trust it")
	}

	s.published = true
	if s.current() != old {
		t.Fatal("served at the moment of publishing: API servers are behind")
	}
	s.published = false // The caBundle is removed again,
	s.after(testPace)
	s.published = true // and it is put back: the pace starts again.
	if s.current() != old || s.after(testPace-time.Second) != old {
		t.Fatal("the pace did not restart")
	}
	if s.after(time.Second) != renewed {
		t.Fatal("not served after one pace of trust")
	}
}

// A new leaf replaces one that expires soon when it is at least as likely to be trusted.
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
			s.current()
			s.now = s.now.Add(time.Hour - c.left - c.age)
			renewed := s.issue(c.life)
			s.unknown[renewed] = !c.known
			want := old
			if c.turn {
				want = renewed
			}
			if s.current() != want && c.age == 0 || s.after(c.age) != want {
				t.Errorf("turned = %t, want %t", !c.turn, c.turn)
			}
		})
	}
}

// The CA is replaced while a leaf of the old CA waits, and published just when the previous leaf has as
// little time left as the waiting one has been trusted for.
func TestGatePrefersTheLeafTrustedForLongest(t *testing.T) {
	s := newScene()
	first := s.issue(6 * testPace)
	s.current()
	s.now = s.now.Add(4 * testPace)
	second := s.issue(6 * testPace)
	if s.current() != first {
		t.Fatal("served without a pace")
	}
	s.now = s.now.Add(testPace / 2)
	third := s.issue(6 * testPace)
	s.unknown[third] = true
	s.current()
	s.unknown[third] = false
	if got := s.after(testPace/2 + time.Second); got == third {
		t.Fatal("a leaf is served that was published this instant, and one that has waited for its pace is not")
	} else if got != second {
		t.Fatal("the leaf that has waited for its pace is not served")
	}
	if s.after(testPace-time.Second) != second || s.after(time.Second) != third {
		t.Fatal("the leaf of the new CA is not served one pace after it was issued")
	}
}

// If a CA is replaced instead of another one being added, the old leaf is refused: there is nothing to wait for.
func TestGateGivesUpALeafThatIsNotTrustedAnyMore(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	var trusted *tls.Certificate
	s.gate.published = func(pair *tls.Certificate, _ time.Time) bool { return pair == trusted }
	trusted = old
	s.current()
	renewed := s.issue(time.Hour)
	if s.after(10*testPace) != old {
		t.Fatal("served although no bundle trusts it")
	}
	trusted = renewed
	if s.current() != renewed {
		t.Error("a leaf that no caller trusts any more is kept although all callers trust another")
	}
}

// Leaves that are issued faster than one in a pace do not delay each other.
func TestGateKeepsUpWithFastRenewals(t *testing.T) {
	s := newScene()
	first := s.issue(time.Hour)
	s.current()
	second := s.issue(time.Hour)
	s.current()
	s.after(testPace / 2)
	third := s.issue(time.Hour)
	if s.current() != first || s.after(testPace/2) != second || s.after(testPace/2) != third {
		t.Fatal("each is to be served one pace after its own issue")
	}
}

// A leaf that was published while the clock was ahead waits one pace by the corrected clock, not until that clock has caught up.
func TestGateAfterAClockThatWasAhead(t *testing.T) {
	s := newScene()
	old := s.issue(time.Hour)
	s.current()
	s.now = s.now.Add(24 * time.Hour)
	renewed := s.issue(time.Hour)
	s.served.Leaf.NotAfter = s.now.Add(time.Hour) // this is not why it is replaced
	s.current()
	s.now = s.now.Add(-24 * time.Hour)
	if s.current() != old || s.after(testPace-time.Second) != old {
		t.Fatal("served without a pace")
	}
	if s.after(time.Second) != renewed {
		t.Fatal("not served after one pace")
	}
}
