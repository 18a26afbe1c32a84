package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// faults are drawn by weight. docs/faults.md explains the numbers.
var faults = []fault{
	{"F1 manager killed", 3, killed},
	{"F2 answers lost", 4, answersLost},
	{"F4 status codes", 8, statusCodes},
	{"F4 requests hang", 4, requestsHang},
	{"F4 patches never answered", 3, neverAnswered},
	{"F4 requests late", 4, requestsLate},
	{"F5 API server killed", 1, serverKilled},
	{"F5 API server unreachable", 3, unreachable},
	{"F6 store frozen", 2, storeFrozen},
	{"F6 store slow", 2, storeSlow},
	{"F7 watches ended", 5, watchesEnded},
	{"F7 watches frozen", 5, watchesFrozen},
	{"F8 watches late", 5, watchesLate},
	{"F7 standby with frozen watches takes over", 4, blindTakeover},
	{"F11 manager stopped", 3, managerStopped},
	{"F12 leader told to end", 2, leaderEnds},
	{"F17 floods", 2, floods},
	{"F19 specs edited", 8, specsEdited},
	{"F19 scalers paused", 3, scalersPaused},
	{"F19 targets scaled by others", 3, targetsScaled},
	{"F19 targets recreated", 3, targetsRecreated},
	{"F19 scalers recreated", 2, scalersRecreated},
	{"F19 holidays edited", 3, holidaysEdited},
}

// rule puts a rule into the proxies of all managers for a time.
func (s *soak) rule(rule harness.Rule, d time.Duration) {
	for _, r := range s.replicas {
		injection := r.proxy.Add(rule)
		defer injection.Remove()
	}
	s.pause(d)
}

func drawVerbs(random *rand.Rand) (name string, verbs []string) {
	name = oneOf(random, "all", "reads", "writes", "patch", "update", "create", "watch")
	switch name {
	case "all":
		return name, nil
	case "reads":
		return name, harness.ReadVerbs
	case "writes":
		return name, harness.WriteVerbs
	}
	return name, []string{name}
}

func statusCodes(s *soak, random *rand.Rand) (string, func()) {
	name, verbs := drawVerbs(random)
	code, share, d := oneOf(random, 409, 429, 500, 502, 503, 504), oneOf(random, 0.3, 0.6, 1), seconds(random, 5, 20)
	action := harness.Answer(code)
	if code == http.StatusTooManyRequests {
		action = harness.AnswerRetryAfter(code, time.Second)
	}
	return fmt.Sprintf("%d for %.0f %% of %s, for %s", code, 100*share, name, d),
		func() { s.rule(harness.Rule{Match: harness.Match{Verbs: verbs}, Fraction: share, Action: action}, d) }
}

func requestsHang(s *soak, random *rand.Rand) (string, func()) {
	name, verbs := drawVerbs(random)
	share, d := oneOf(random, 0.1, 0.3), seconds(random, 5, 20)
	return fmt.Sprintf("%.0f %% of %s, for %s", 100*share, name, d),
		func() {
			s.rule(harness.Rule{Match: harness.Match{Verbs: verbs}, Fraction: share, Action: harness.Hang()}, d)
		}
}

func neverAnswered(s *soak, random *rand.Rand) (string, func()) {
	share, d := oneOf(random, 0.3, 1), seconds(random, 5, 20)
	return fmt.Sprintf("%.0f %%, for %s", 100*share, d), func() {
		s.rule(harness.Rule{Match: harness.Match{Verbs: []string{"patch"}}, Fraction: share, Action: harness.Swallow()}, d)
	}
}

func requestsLate(s *soak, random *rand.Rand) (string, func()) {
	name, verbs := drawVerbs(random)
	by, d := seconds(random, 0, 3), seconds(random, 5, 20)
	return fmt.Sprintf("%s by %s, for %s", name, by, d),
		func() {
			s.rule(harness.Rule{Match: harness.Match{Verbs: verbs}, Fraction: 0.5, Action: harness.Delay(by)}, d)
		}
}

func answersLost(s *soak, random *rand.Rand) (string, func()) {
	share, d := oneOf(random, 0.2, 0.5, 1), seconds(random, 3, 15)
	return fmt.Sprintf("%.0f %% of writes, for %s", 100*share, d),
		func() {
			s.rule(harness.Rule{Match: harness.Match{Verbs: harness.WriteVerbs}, Fraction: share, Action: harness.LoseAnswer()}, d)
		}
}

func unreachable(s *soak, random *rand.Rand) (string, func()) {
	d, both := seconds(random, 3, 25), random.IntN(2) == 0
	return fmt.Sprintf("for %s, for both managers: %v", d, both), func() {
		leader := s.leader()
		for _, r := range s.replicas {
			if both || r == leader {
				r.proxy.Break(true)
				defer r.proxy.Break(false)
			}
		}
		s.pause(d)
	}
}

// resources are what a watch can be about; none means all.
var resources = []string{"timewindowscalers", "timewindowscalers", "deployments", "statefulsets", "daemonsets", "widgets", "configmaps", ""}

func watchesEnded(s *soak, random *rand.Rand) (string, func()) {
	resource, how := oneOf(random, resources...), oneOf(random, harness.Cut, harness.Expired)
	return fmt.Sprintf("of %q, expired: %v", resource, how == harness.Expired), func() {
		for _, r := range s.replicas {
			r.proxy.EndWatches(harness.Match{Resource: resource}, how)
		}
	}
}

func watchesFrozen(s *soak, random *rand.Rand) (string, func()) {
	resource, d := oneOf(random, resources...), seconds(random, 3, 20)
	return fmt.Sprintf("of %q, for %s", resource, d), func() {
		defer s.leader().proxy.HoldEvents(harness.Match{Resource: resource})()
		s.pause(d)
	}
}

func watchesLate(s *soak, random *rand.Rand) (string, func()) {
	resource, by, d := oneOf(random, resources...), seconds(random, 0, 4), seconds(random, 10, 25)
	return fmt.Sprintf("of %q, by %s, for %s", resource, by, d), func() {
		defer s.leader().proxy.DelayEvents(harness.Match{Resource: resource}, by)()
		s.pause(d)
	}
}

// restarting guards the API server: one fault at a time.
var restarting sync.Mutex

func serverKilled(s *soak, random *rand.Rand) (string, func()) {
	d := seconds(random, 0, 15)
	return fmt.Sprintf("away for %s", d), func() {
		restarting.Lock()
		defer restarting.Unlock()
		_ = s.cluster.Kill()
		s.pause(d)
		for {
			again, err := harness.Start(s.Context(), s.cluster.Dir, s.clusterArgs()...)
			if err == nil {
				s.cluster.Adopt(again)
				return
			}
			if !s.pause(time.Second) {
				return
			}
		}
	}
}

func storeFrozen(s *soak, random *rand.Rand) (string, func()) {
	d := seconds(random, 2, 15)
	return fmt.Sprintf("for %s", d), func() {
		_ = s.etcd.Signal(syscall.SIGSTOP)
		s.pause(d)
		_ = s.etcd.Signal(syscall.SIGCONT)
	}
}

func storeSlow(s *soak, random *rand.Rand) (string, func()) {
	d := seconds(random, 5, 20)
	return fmt.Sprintf("for %s", d), func() {
		end := s.etcd.Slow()
		s.pause(d)
		_ = end()
	}
}

// floods updates one scaler and one target as fast as it goes. Nothing in them that concerns the schedule changes.
func floods(s *soak, random *rand.Rand) (string, func()) {
	o, d := oneOf(random, s.objects...), seconds(random, 5, 15)
	return fmt.Sprintf("of updates of %s, for %s", o.key(), d), func() {
		ctx, cancel := context.WithTimeout(s.Context(), d)
		defer cancel()
		for i := 0; ctx.Err() == nil; i++ {
			_ = s.client.Patch(ctx, o.scalerReference(), merge(`{"metadata":{"annotations":{"flood":"%d"}}}`, i))
			_ = s.client.Patch(ctx, o.reference(), merge(`{"metadata":{"annotations":{"flood":"%d"}}}`, i))
		}
	}
}
