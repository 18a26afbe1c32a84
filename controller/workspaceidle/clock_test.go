package workspaceidle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/lifecycle"
)

const years = 10 * 365 * 24 * time.Hour

// A heartbeat that was seen while the clock was years ahead does not keep a Workspace running until that time.
func TestAHeartbeatOfAClockThatWasAhead(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.clock.SetTime(noon.Add(years))
	s.beat()
	s.passAfter(0)
	s.desires("RUNNING", 0, 1)
	s.passAfter(time.Minute - years)
	s.passAfter(5*time.Minute - time.Nanosecond)
	s.desires("RUNNING", 0, 1)
	s.passAfter(time.Nanosecond)
	s.desires("STANDBY", 1, 2)
}

// Nor does a Workspace that was started, or put into STANDBY, at such a time stay so.
func TestAStartAtAClockThatWasAhead(t *testing.T) {
	for phase, test := range map[v1alpha1.Phase]struct {
		ttl  time.Duration
		want v1alpha1.DesiredState
	}{"RUNNING": {5 * time.Minute, "STANDBY"}, "STANDBY": {24 * time.Hour, "PENDING"}} {
		s := newStage(t, workspace(phase, noon.Add(years)))
		if wait := s.passAfter(0).RequeueAfter; wait <= 0 || wait > 66*time.Second {
			t.Errorf("%s: the next pass is after %s", phase, wait)
		}
		s.passAfter(test.ttl - time.Nanosecond)
		s.desires(v1alpha1.DesiredState(phase), 0, 0)
		s.passAfter(time.Nanosecond)
		s.desires(test.want, 1, 1)
	}
}

// A clock that was behind for a while, during passes and heartbeats too, stops no Workspace: when it is right again, all is
// as it was.
func TestAClockThatWasBehind(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.passAfter(4 * time.Minute)
	s.beat()
	s.passAfter(time.Minute)
	for range 4 {
		s.passAfter(-years)
		s.passAfter(time.Minute)
		s.passAfter(years - time.Minute)
	}
	s.change(func(ws *v1alpha1.Workspace) { ws.Status.RunningSince = ptr.To(metav1.NewTime(s.clock.Now())) })
	s.passAfter(-years)
	s.passAfter(years + 5*time.Minute - time.Nanosecond)
	s.desires("RUNNING", 0, 1)
	s.passAfter(time.Nanosecond)
	s.desires("STANDBY", 1, 2)
}

// However the clock is set in between: when it is right, no Workspace is lowered before the TTL has passed since the start
// and since the last heartbeat, and one that was started by a wrong clock is lowered two TTLs later at most.
func TestHoweverTheClockIsSet(t *testing.T) {
	const ttl = time.Hour
	off := []time.Duration{0, 0, -time.Second, time.Second, -time.Hour, time.Hour, -25 * time.Hour, 25 * time.Hour, -years, years}
	rapid.Check(t, func(t *rapid.T) {
		var m memory
		ws := workspace("RUNNING", noon)
		right := noon // the real time
		decide := func(off time.Duration, seen activity.Seen) lifecycle.IdleDecision {
			ws.Spec.StandbyTTLSeconds = int32(ttl / time.Second)
			return lifecycle.DecideIdle(m.observation(ws, seen.Activity, right.Add(off)).idle)
		}
		wrong := rapid.SampledFrom(off).Draw(t, "at the start")
		ws.Status.RunningSince = ptr.To(metav1.NewTime(noon.Add(wrong)))
		var seen activity.Seen
		for range rapid.IntRange(0, 20).Draw(t, "looks") {
			if rapid.IntRange(0, 3).Draw(t, "heartbeat") == 0 {
				seen = activity.Seen{Activity: right}
			}
			right = right.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "minutes")) * time.Minute)
			now := rapid.SampledFrom(off).Draw(t, "off by")
			last := noon
			if seen.Activity.After(last) {
				last = seen.Activity
			}
			if early := right.Sub(last) < ttl; decide(now, seen).Desired != "" && now == 0 && wrong == 0 && early {
				t.Fatalf("lowered at %v, last used at %v", right, last)
			}
		}
		lowered := false
		for range 3 {
			lowered = decide(0, seen).Desired != ""
			right = right.Add(ttl)
		}
		if !lowered {
			t.Fatalf("started by a clock that was off by %s, it is not lowered two TTLs after the clock is right", wrong)
		}
	})
}
