package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	foughtOver = "Field manager argocd-controller rewrites the replicas that Kyklos sets in Deployment webapp: " +
		"three times in window BusinessHours; only one of the two can decide: have the other leave the target alone, or set spec.pause"
	corrected = "Corrected manual drift: scaled down from 15 to 10 replicas (window: BusinessHours)"
)

// rewrites lets a rival set 15 replicas and runs the pass that sees it.
func (s *story) rewrites(local string) *situation {
	s.Helper()
	s.obs.target = deployment(15, 15)
	return s.passes(local)
}

// fighting is a story in which a rival has just rewritten 10 replicas for the third time, at 14:00:03. The
// last correction was at 14:00:02.
func fighting(t *testing.T, change ...func(*story)) *story {
	s := newStory(t, 10)
	s.rival = "Field manager argocd-controller"
	for _, c := range change {
		c(s)
	}
	s.passes(inTheHours)
	s.rewrites("2025-01-27 14:00:01")
	s.rewrites("2025-01-27 14:00:02")
	s.shows("Degraded", normal)
	s.rewrites("2025-01-27 14:00:03")
	return s
}

// The third rewriting is told of, once, and the target is left as the rival wants it until the next
// correction.
func TestTheThirdRewritingIsAFight(t *testing.T) {
	s := fighting(t)
	s.stands(15)
	s.hears(foughtOver)
	told := func() {
		t.Helper()
		s.shows("Degraded", "True/FieldFight: "+foughtOver)
		s.shows("Ready", "False/TargetMismatch: Target does not have the desired count of 10 (window: BusinessHours): "+
			"somebody else sets it again and again, and Kyklos corrects it ever less often, in the end every 5 minutes; see Degraded")
		s.shows("Reconciling", "False/Stable: The next correction of the target waits; see Degraded")
		s.keeps(10, "")
	}
	told()
	before := s.tws.Status.Conditions
	s.passes("2025-01-27 14:00:20")
	s.hears()
	told()
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
		if p := s.passesAt(last.Add(wait - time.Millisecond)).plan; p.write || !p.waiting {
			t.Errorf("correction %d: write %v, waiting %v too early", i+1, p.write, p.waiting)
		}
		last = last.Add(wait)
		s.passesAt(last)
		s.hears(corrected)
		s.stands(10)
		s.shows("Degraded", "True/FieldFight: "+foughtOver)
	}
}

// A rival that comes seldom is corrected at once: nothing is fought at full speed.
func TestASlowRivalIsCorrectedAtOnce(t *testing.T) {
	s := newStory(t, 10)
	s.passes("2025-01-27 09:00:00")
	for _, at := range []string{"2025-01-27 10:00:00", "2025-01-27 11:00:00", "2025-01-27 12:00:00", "2025-01-27 13:00:00"} {
		s.rewrites(at)
		s.stands(10)
	}
	// It left the count alone for an hour, so two hours show that it is gone.
	s.passes("2025-01-27 14:59:59")
	s.shows("Degraded", "True/FieldFight: Another writer rewrites the replicas that Kyklos sets in Deployment webapp: "+
		"three times in window BusinessHours; only one of the two can decide: have the other leave the target alone, or set spec.pause")
	s.passes("2025-01-27 15:00:00")
	s.shows("Degraded", normal)
}

// Ten minutes in which the count stands end a fight; after that the next rewriting is the first.
func TestAFightEnds(t *testing.T) {
	s := fighting(t)
	s.passes("2025-01-27 14:00:32")
	s.stands(10)
	s.passes("2025-01-27 14:10:31")
	s.shows("Degraded", "True/FieldFight: "+foughtOver)
	s.passes("2025-01-27 14:10:32")
	s.shows("Degraded", normal)
	s.shows("Ready", inOrder)
	for _, at := range []string{"2025-01-27 14:11:00", "2025-01-27 14:11:01"} {
		s.rewrites(at)
		s.hears(corrected)
		s.shows("Degraded", normal)
	}
	s.rewrites("2025-01-27 14:11:02")
	s.hears(foughtOver)
}

// A rival that puts the count back itself ends the wait. When it rewrites again, that counts again, and puts
// off no correction.
func TestARivalThatGivesWay(t *testing.T) {
	s := fighting(t)
	s.obs.target = deployment(10, 10)
	s.passes("2025-01-27 14:00:10")
	s.shows("Ready", inOrder)
	s.rewrites("2025-01-27 14:00:31")
	s.stands(15)
	if got := s.last.plan.fight.rewritings; got != 4 {
		t.Errorf("%d rewritings, want 4", got)
	}
	s.passes("2025-01-27 14:00:32")
	s.stands(10)
	s.obs.target = deployment(15, 15)
	s.passes("2025-01-27 14:00:33")
	s.obs.target = deployment(10, 10)
	s.passes("2025-01-27 14:00:40")
	s.passes("2025-01-27 14:10:39")
	s.shows("Degraded", "True/FieldFight: "+foughtOver)
	s.passes("2025-01-27 14:10:40")
	s.shows("Degraded", normal)
}

// --on-fight=enforce says the same and corrects every time.
func TestEnforcing(t *testing.T) {
	s := fighting(t, func(s *story) { s.obs.fight.enforce = true })
	s.hears(foughtOver, corrected)
	for range 5 {
		s.rewrites("2025-01-27 14:00:04")
		s.hears(corrected)
		s.stands(10)
		s.shows("Degraded", "True/FieldFight: "+foughtOver)
	}
}

// What is graver is shown instead, and the fight goes on behind it.
func TestGraverThanAFight(t *testing.T) {
	s := fighting(t)
	s.refusal = errRefused
	s.passes("2025-01-27 14:00:32")
	s.shows("Degraded", "True/ScaleFailed: The API server refuses to scale the target: "+errRefused.Error())
	s.obs.holidays.missing, s.refusal = "company-holidays", nil
	s.passes("2025-01-27 14:01:00")
	s.shows("Degraded", "True/FieldFight: "+foughtOver)
	s.stands(10)
}

// A clock that is set back must not make a correction wait for it to catch up.
func TestAFightAfterTheClockWasSetBack(t *testing.T) {
	s := fighting(t)
	s.passes("2025-01-27 13:00:00")
	s.stands(15)
	s.passes("2025-01-27 13:00:30")
	s.stands(10)
}

// The looks that a fight needs: at the next correction, and when it may be over.
func TestWaitsInAFight(t *testing.T) {
	s := fighting(t)
	r, request, mem := exactly(t, s)
	wait := func(what string, want time.Duration) {
		t.Helper()
		mem.fight = s.obs.fight.before
		got, err := r.settled(request, &s.last, mem)
		expectDelay(t, what, got, err, want)
	}
	wait("the next correction", 29*time.Second)
	s.passes("2025-01-27 14:00:32")
	wait("the end of the fight", 10*time.Minute)
	s.rewrites("2025-01-27 14:10:31") // after almost ten minutes: the next takes twice as long
	wait("after a long calm", 2*(9*time.Minute+59*time.Second))
	s.passes("2025-01-27 16:55:00")
	wait("it is over: the boundary", 5*time.Minute)
}

// After a restart the status tells of the fight. It is not announced again, and goes on at its longest
// interval.
func TestAFightOutlivesARestart(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*story)
		now    string
		stands int32
		on     bool
	}{
		"too early":              {func(*story) {}, "2025-01-27 14:05:01", 15, true},
		"due":                    {func(*story) {}, "2025-01-27 14:05:02", 10, true},
		"the count stands":       {func(s *story) { s.obs.target = deployment(10, 10) }, "2025-01-27 14:05:02", 10, true},
		"and has stood for long": {func(s *story) { s.obs.target = deployment(10, 10) }, "2025-01-27 14:10:02", 10, false},
		"in another window":      {func(*story) {}, "2025-01-27 17:00:00", 2, false},
		"with another spec": {func(s *story) {
			s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(7) })
		}, "2025-01-27 14:00:04", 7, false},
		"with another count":      {func(s *story) { s.tws.Status.EffectiveReplicas = ptr.To[int32](9) }, "2025-01-27 14:00:04", 10, false},
		"without a time of scale": {func(s *story) { s.tws.Status.LastScaleTime = nil }, "2025-01-27 14:00:04", 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := fighting(t)
			s.obs.fight.before = fight{} // the memory is lost
			tc.change(s)
			p := s.passes(tc.now).plan
			s.stands(tc.stands)
			if p.fight.on() != tc.on || p.fight.on() && p.fight.trouble != foughtOver || p.fight.on() && !p.fight.told {
				t.Errorf("on %v, told %v, %q", p.fight.on(), p.fight.told, p.fight.trouble)
			}
		})
	}
}
