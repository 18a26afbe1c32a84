package timewindowscaler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/metrics"

	"kyklos.io/kyklos/controller/timewindowscaler/contention"
)

// arena simulates hours of a fight: a rival that answers each correction after a while, restarts of the
// manager, and passes only where the real controller has them: when the target changes, when a wait is
// over, and at a start.
type arena struct {
	*rapid.T
	s     *scenario
	r     *Reconciler
	state *scalerState

	now, wake time.Time
	// rewrites is when the rival acts next, zero for never. It answers within a number of milliseconds in
	// the range answers, nil for not at all.
	rewrites time.Time
	answers  []int
	// lost is when the rival rewrote the target, zero while the target has our count.
	lost time.Time
	// corrections are those since the last restart or boundary.
	corrections []time.Time
	longest     time.Duration
}

// byTheClock is the oracle: office hours as a reader of the spec would put it.
func byTheClock(now time.Time) int32 {
	if local := now.In(kolkata); local.Weekday() != time.Saturday && local.Weekday() != time.Sunday && local.Hour() >= 9 && local.Hour() < 17 {
		return 10
	}
	return 2
}

// rivals answer at their own pace; none leaves the count alone for so long that the fight is over.
func newArena(t *testing.T, rt *rapid.T) *arena {
	s := newScenario(t, 2)
	r, request, state := exactly(t, s)
	a := &arena{T: rt, s: s, r: r, state: state, now: ist("2025-01-27 08:30:00")}
	a.answers = rapid.SampledFrom([][]int{{100, 100}, {1, 5_000}, {1, 100_000}, {100_000, 590_000}}).Draw(rt, "answers")
	rt.Cleanup(func() { metrics.Forget(request.NamespacedName) })
	return a
}

// pass does what Reconcile does, and checks the rules.
func (a *arena) pass(boundary bool) {
	before := len(a.corrections)
	p := a.s.passAt(a.now)
	if p.outcome.scaled && p.plan.Drift {
		a.corrections = append(a.corrections, a.now)
	}
	a.state.fight, a.state.wakeUp = a.s.obs.fight.before, p.plan.wakeUp
	result := a.r.nextRequeue(p, a.state)
	if result.RequeueAfter <= 0 {
		a.Fatalf("%s: wait %s", a.now, result.RequeueAfter)
	}
	a.wake = a.now.Add(result.RequeueAfter)
	if a.s.obs.target.Base().Spec == byTheClock(a.now) {
		a.lost = time.Time{}
		if a.rewrites.IsZero() && a.answers != nil {
			a.rewrites = a.now.Add(time.Duration(rapid.IntRange(a.answers[0], a.answers[1]).Draw(a.T, "answer")) * time.Millisecond)
		}
	} else if boundary {
		a.Fatalf("%s: the boundary was not applied", a.now.In(kolkata))
	}
	if len(a.corrections) > before {
		a.checkPace()
	}
}

// checkPace: within a window the third correction comes 30 s after the second at the earliest, then 1, 2 and
// 5 minutes after one another.
func (a *arena) checkPace() {
	n := len(a.corrections)
	if n < 3 {
		return
	}
	pace := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}
	least := pace[min(n-3, len(pace)-1)]
	if gap := a.corrections[n-1].Sub(a.corrections[n-2]); gap < least {
		a.Fatalf("correction %d came %s after the one before, want %s at least", n, gap, least)
	}
}

// step advances to the next event: the rival's answer or the end of the wait.
func (a *arena) step() {
	next := a.s.tws.Status.NextBoundary.Time
	if !a.rewrites.IsZero() && a.rewrites.Before(a.wake) {
		a.now, a.rewrites = a.rewrites, time.Time{}
		if a.lost.IsZero() {
			a.lost = a.now
		}
		a.s.obs.target = deployment(int32(rapid.IntRange(11, 13).Draw(a.T, "theirs")), 15)
	} else {
		a.now = a.wake
	}
	boundary := !a.now.Before(next)
	if boundary {
		a.corrections = nil
	}
	a.pass(boundary)
	if !a.lost.IsZero() {
		a.longest = max(a.longest, a.now.Sub(a.lost))
	}
}

// However rivals behave: corrections keep their pace, none is lost, and boundaries are on time. When the rival
// gives up, the fight ends, and with it the extra passes.
func TestAnyFight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newArena(t, rt)
		a.pass(false)
		for end := ist("2025-01-27 10:30:00"); a.now.Before(end); {
			a.step()
			if a.longest > 5*time.Minute {
				rt.Fatalf("the rival held the target for %s", a.longest)
			}
		}
		if !a.s.obs.fight.before.On() {
			rt.Fatalf("no fight after %d corrections", len(a.corrections))
		}
		a.answers, a.rewrites = nil, time.Time{}
		extraPasses := 0
		for a.now.Before(ist("2025-01-27 17:00:00")) {
			a.step()
			extraPasses++
		}
		if a.s.obs.fight.before.On() || extraPasses > 3 {
			rt.Fatalf("after the rival gave up: fight %v, %d extraPasses until the boundary", a.s.obs.fight.before.On(), extraPasses)
		}
	})
}

// A manager that restarts repeatedly forgets at most two rewrites each time. Once a fight is announced,
// corrections are always five minutes apart.
func TestAFightAcrossRestarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newArena(t, rt)
		a.pass(false)
		var last time.Time
		for range rapid.IntRange(1, 30).Draw(rt, "restarts") {
			for range rapid.IntRange(0, 12).Draw(rt, "steps") {
				a.step()
			}
			announced := a.s.obs.fight.before.On()
			if scaled := a.s.tws.Status.LastScaleTime; scaled != nil {
				last = scaled.Time
			}
			a.s.obs.fight.before, a.state.fight, a.corrections = contention.Fight{}, contention.Fight{}, nil
			a.pass(false)
			// Times of scale are stored in whole seconds.
			if early := a.now.Sub(last) < 5*time.Minute-time.Second; announced && early && len(a.corrections) > 0 {
				rt.Fatalf("corrected %s after the last time, in spite of the fight", a.now.Sub(last))
			}
			if announced != a.s.obs.fight.before.On() {
				rt.Fatalf("a fight before the restart: %v, and after it: %v", announced, !announced)
			}
			if a.longest > 5*time.Minute {
				rt.Fatalf("the rival held the target for %s", a.longest)
			}
			a.corrections = nil
		}
	})
}
