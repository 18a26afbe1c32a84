package soak

import (
	"fmt"
	"math/rand/v2"
	"syscall"

	"kyklos.io/kyklos/test/harness"
)

func killed(s *soak, random *rand.Rand) (string, func()) {
	r, d := oneOf(random, s.replicas...), seconds(random, 0, 10)
	return fmt.Sprintf("%s, away for %s", r.name, d), func() {
		if m := r.take(); m != nil {
			_ = m.Kill()
			s.pause(d)
			s.start(r)
		}
	}
}

func leaderEnds(s *soak, random *rand.Rand) (string, func()) {
	d := seconds(random, 0, 10)
	return fmt.Sprintf("away for %s", d), func() {
		r := s.leader()
		if m := r.take(); m != nil {
			_ = m.Stop()
			s.pause(d)
			s.start(r)
		}
	}
}

// blindTakeover freezes the watches of the replica that does not lead, edits specs, and ends the leader.
func blindTakeover(s *soak, random *rand.Rand) (string, func()) {
	resource, killed := oneOf(random, resources...), random.IntN(2) == 0
	before, after := seconds(random, 1, 5), seconds(random, 15, 25)
	what, edit := specsEdited(s, random)
	return fmt.Sprintf("of %q, %s later, for %s; specs edited %s; killed: %v", resource, before, after, what, killed), func() {
		leader := s.leader()
		for _, r := range s.replicas {
			if r != leader {
				defer r.proxy.HoldEvents(harness.Match{Resource: resource})()
			}
		}
		edit()
		s.pause(before)
		m := leader.take()
		if m == nil {
			return
		}
		if killed {
			_ = m.Kill()
		} else {
			_ = m.Stop()
		}
		s.pause(after)
		s.start(leader)
	}
}

func managerStopped(s *soak, random *rand.Rand) (string, func()) {
	r, d := oneOf(random, s.replicas...), seconds(random, 2, 25)
	return fmt.Sprintf("%s, for %s", r.name, d), func() {
		r.signal(syscall.SIGSTOP)
		defer r.signal(syscall.SIGCONT)
		s.pause(d)
	}
}
