package timewindowscaler

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
)

// rewrite lets a rival set 15 replicas and runs the pass that sees it.
func (s *scenario) rewrite(local string) *passResult {
	s.Helper()
	s.obs.target = deployment(15, 15)
	return s.pass(local)
}

// fighting is a scenario in which a rival has just rewritten 10 replicas for the third time, at 14:00:03. The
// last correction was at 14:00:02.
func fighting(t *testing.T, change ...func(*scenario)) *scenario {
	s := newScenario(t, 10)
	s.rival = "Field manager argocd-controller"
	for _, c := range change {
		c(s)
	}
	s.pass(inTheHours)
	s.rewrite("2025-01-27 14:00:01")
	s.rewrite("2025-01-27 14:00:02")
	s.expectCondition("Degraded", normal)
	s.rewrite("2025-01-27 14:00:03")
	return s
}

// The third rewrite is announced, once, and the target is left as the rival wants it until the next
// correction.
func TestTheThirdRewriteIsAFight(t *testing.T) {
	s := fighting(t)
	s.expectTargetSpec(15)
	s.expectEvents("FieldFight")
	expectFight := func() {
		t.Helper()
		s.expectCondition("Degraded", "True/FieldFight")
		s.expectCondition("Ready", "False/TargetMismatch")
		s.expectCondition("Reconciling", "False/Stable")
		s.expectEffective(10, "")
	}
	expectFight()
	before := s.tws.Status.Conditions
	s.pass("2025-01-27 14:00:20")
	s.expectEvents()
	expectFight()
	if since := s.tws.Status.Conditions[2].LastTransitionTime; !since.Equal(&before[2].LastTransitionTime) {
		t.Errorf("Degraded since %s, before %s", since, before[2].LastTransitionTime)
	}
}

// B10's pace, from one correction to the next: 30 s, 1, 2, 5 min, and 5 min from then on.
func TestThePaceOfAFight(t *testing.T) {
	s := fighting(t)
	last := ist("2025-01-27 14:00:02")
	for i, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		s.obs.target = deployment(15, 15)
		if p := s.passAt(last.Add(wait - time.Millisecond)).plan; p.Write || !p.waiting {
			t.Errorf("correction %d: write %v, waiting %v too early", i+1, p.Write, p.waiting)
		}
		last = last.Add(wait)
		s.passAt(last)
		s.expectEvents("ScaledDown")
		s.expectTargetSpec(10)
		s.expectCondition("Degraded", "True/FieldFight")
	}
}

// A rival that writes rarely is corrected at once.
func TestASlowRivalIsCorrectedAtOnce(t *testing.T) {
	s := newScenario(t, 10)
	s.pass("2025-01-27 09:00:00")
	for _, at := range []string{"2025-01-27 10:00:00", "2025-01-27 11:00:00", "2025-01-27 12:00:00", "2025-01-27 13:00:00"} {
		s.rewrite(at)
		s.expectTargetSpec(10)
	}
	// It left the count alone for an hour, so after two hours it is considered gone.
	s.pass("2025-01-27 14:59:59")
	s.expectCondition("Degraded", "True/FieldFight")
	s.pass("2025-01-27 15:00:00")
	s.expectCondition("Degraded", normal)
}

// Ten minutes without a rewrite end a fight; after that the next rewrite is the first.
func TestAFightEnds(t *testing.T) {
	s := fighting(t)
	s.pass("2025-01-27 14:00:32")
	s.expectTargetSpec(10)
	s.pass("2025-01-27 14:10:31")
	s.expectCondition("Degraded", "True/FieldFight")
	s.pass("2025-01-27 14:10:32")
	s.expectCondition("Degraded", normal)
	s.expectCondition("Ready", inOrder)
	for _, at := range []string{"2025-01-27 14:11:00", "2025-01-27 14:11:01"} {
		s.rewrite(at)
		s.expectEvents("ScaledDown")
		s.expectCondition("Degraded", normal)
	}
	s.rewrite("2025-01-27 14:11:02")
	s.expectEvents("FieldFight")
}

// A rival that puts the count back itself ends the wait. When it rewrites again, that counts again, and delays
// no correction.
func TestARivalThatGivesWay(t *testing.T) {
	s := fighting(t)
	s.obs.target = deployment(10, 10)
	s.pass("2025-01-27 14:00:10")
	s.expectCondition("Ready", inOrder)
	s.rewrite("2025-01-27 14:00:31")
	s.expectTargetSpec(15)
	if got := s.last.plan.fight.Rewrites; got != 4 {
		t.Errorf("%d rewrites, want 4", got)
	}
	s.pass("2025-01-27 14:00:32")
	s.expectTargetSpec(10)
	s.obs.target = deployment(15, 15)
	s.pass("2025-01-27 14:00:33")
	s.obs.target = deployment(10, 10)
	s.pass("2025-01-27 14:00:40")
	s.pass("2025-01-27 14:10:39")
	s.expectCondition("Degraded", "True/FieldFight")
	s.pass("2025-01-27 14:10:40")
	s.expectCondition("Degraded", normal)
}

// --on-fight=enforce reports the same and corrects every time.
func TestEnforcing(t *testing.T) {
	s := fighting(t, func(s *scenario) { s.obs.fight.enforce = true })
	s.expectEvents("FieldFight", "ScaledDown")
	for range 5 {
		s.rewrite("2025-01-27 14:00:04")
		s.expectEvents("ScaledDown")
		s.expectTargetSpec(10)
		s.expectCondition("Degraded", "True/FieldFight")
	}
}

// A more serious problem is shown instead, while the fight continues.
func TestMoreSeriousThanAFight(t *testing.T) {
	s := fighting(t)
	s.refusal = errRefused
	s.pass("2025-01-27 14:00:32")
	s.expectCondition("Degraded", "True/ScaleFailed")
	s.obs.holidays.missing, s.refusal = "company-holidays", nil
	s.pass("2025-01-27 14:01:00")
	s.expectCondition("Degraded", "True/FieldFight")
	s.expectTargetSpec(10)
}

// A clock that is set back must not make a correction wait for it to catch up.
func TestAFightAfterTheClockWasSetBack(t *testing.T) {
	s := fighting(t)
	s.pass("2025-01-27 13:00:00")
	s.expectTargetSpec(15)
	s.pass("2025-01-27 13:00:30")
	s.expectTargetSpec(10)
}

// The passes that a fight needs: at the next correction, and when it may be over.
func TestWaitsInAFight(t *testing.T) {
	s := fighting(t)
	r, _, state := exactly(t, s)
	wait := func(what string, want time.Duration) {
		t.Helper()
		state.fight = s.obs.fight.before
		expectDelay(t, what, r.nextRequeue(&s.last, state), nil, want)
	}
	wait("the next correction", 29*time.Second)
	s.pass("2025-01-27 14:00:32")
	wait("the end of the fight", 10*time.Minute)
	s.rewrite("2025-01-27 14:10:31") // after almost ten minutes: the next takes twice as long
	wait("after a long calm", 2*(9*time.Minute+59*time.Second))
	s.pass("2025-01-27 16:55:00")
	wait("it is over: the boundary", 5*time.Minute)
}

// After a restart the fight is restored from the status. It is not announced again, and continues at its
// longest interval.
func TestAFightOutlivesARestart(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*scenario)
		now      string
		replicas int32
		on       bool
	}{
		"too early":              {func(*scenario) {}, "2025-01-27 14:05:01", 15, true},
		"due":                    {func(*scenario) {}, "2025-01-27 14:05:02", 10, true},
		"the count stands":       {func(s *scenario) { s.obs.target = deployment(10, 10) }, "2025-01-27 14:05:02", 10, true},
		"and has stood for long": {func(s *scenario) { s.obs.target = deployment(10, 10) }, "2025-01-27 14:10:02", 10, false},
		"in another window":      {func(*scenario) {}, "2025-01-27 17:00:00", 2, false},
		"with another spec": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(7) })
		}, "2025-01-27 14:00:04", 7, false},
		"with another count":      {func(s *scenario) { s.tws.Status.EffectiveReplicas = ptr.To[int32](9) }, "2025-01-27 14:00:04", 10, false},
		"without a time of scale": {func(s *scenario) { s.tws.Status.LastScaleTime = nil }, "2025-01-27 14:00:04", 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := fighting(t)
			s.obs.fight.before = contention.Fight{} // the state is lost
			tc.change(s)
			p := s.pass(tc.now).plan
			s.expectTargetSpec(tc.replicas)
			if p.fight.On() != tc.on || p.fight.On() && !strings.Contains(p.fight.Trouble, "argocd-controller") || p.fight.On() && !p.fight.Announced {
				t.Errorf("on %v, announced %v, %q", p.fight.On(), p.fight.Announced, p.fight.Trouble)
			}
		})
	}
}
