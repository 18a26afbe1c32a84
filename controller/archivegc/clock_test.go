package archivegc

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/clockstep"
)

// However the clock is set between cycles, and back again: no archive is deleted before it was not needed for two hours
// of time that really passed, and every one goes in the end.
func TestNoArchiveGoesBecauseOfAStep(t *testing.T) {
	steps := []time.Duration{time.Second, 59 * time.Second, 2 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 24 * time.Hour, 10 * 365 * 24 * time.Hour}
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, map[string][]byte{connect.Folder: []byte("/in/memory")})
		inMemory(s)
		s.workspace("ann")
		orphan := s.orphans(1)[0]
		s.cycle(0)
		passed := time.Duration(0)
		for s.has(orphan) && rapid.IntRange(0, 9).Draw(t, "continue") > 0 {
			by := rapid.SampledFrom(append(steps, 0)).Draw(t, "step")
			for range rapid.IntRange(1, 2).Draw(t, "and back") {
				s.step(by)
				by = -by
				if rapid.Bool().Draw(t, "cycle in between") {
					s.cycle(0)
				}
			}
			after := time.Duration(rapid.IntRange(1, 180).Draw(t, "minutes")) * time.Minute
			s.cycle(after)
			if passed += after; !s.has(orphan) && passed < 2*time.Hour-clockTolerance {
				t.Fatalf("it is gone after %s", passed)
			}
		}
		for range 3 {
			s.cycle(2 * time.Hour)
		}
		if s.has(orphan) {
			t.Fatal("it stays, although the clock is right again")
		}
	})
}

// A cycle that comes a little late, or a clock that is set right by a second, does not restart an archive's two hours.
func TestOneSecondIsNotAStep(t *testing.T) {
	s := newStage(t, folder(t))
	s.workspace("ann")
	orphan := s.orphans(1)[0]
	s.cycle(0)
	s.step(-time.Second)
	if s.cycle(2*time.Hour + time.Second); s.has(orphan) {
		t.Error("the two hours restarted")
	}
}

// A leader that takes over notices what happens to the clock before its first cycle.
func TestAStepBeforeTheFirstCycle(t *testing.T) {
	s := newStage(t, folder(t))
	s.workspace("ann")
	orphan := s.orphans(1)[0]
	s.cycle(0)
	next := *s.collector
	next.steps = clockstep.Detector{}
	s.collector = &next
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.must(next.Start(ctx)) // it reads the clock and stops
	s.step(time.Hour)
	if s.cycle(time.Hour); !s.has(orphan) {
		t.Error("an archive went an hour early")
	}
}
