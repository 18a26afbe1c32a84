package timecalc_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// The oracle has to find what is wrong with these engines, and nothing wrong with them where their
// mistake does not show. Without this, "0 wrong minutes" could be the word of a blind oracle.

// timeDateNext takes edges from time.Date, as most schedulers do.
func timeDateNext(windows []timecalc.TimeWindow, now time.Time) time.Time {
	limit := now.Add(24 * time.Hour)
	best := time.Time{}
	consider := func(edge time.Time) {
		if edge.After(now) && !edge.After(limit) && (best.IsZero() || edge.Before(best)) {
			best = edge
		}
	}
	for ahead := -1; ahead <= 1; ahead++ {
		for _, w := range windows {
			day := time.Date(now.Year(), now.Month(), now.Day()+ahead, 12, 0, 0, 0, now.Location())
			if !listed(w, day.Weekday()) {
				continue
			}
			endDay := day.Day()
			if w.CrossesMidnight() {
				endDay++
			}
			consider(dateClock(day, day.Day(), w.Start()))
			consider(dateClock(day, endDay, w.End()))
		}
	}
	if best.IsZero() {
		best = timecalc.NextDate(now)
	}
	if best.After(limit) {
		return limit
	}
	return best
}

func dateClock(like time.Time, day int, hhmm string) time.Time {
	clock, _ := time.Parse("15:04", hhmm)
	return time.Date(like.Year(), like.Month(), day, clock.Hour(), clock.Minute(), 0, 0, like.Location())
}

func listed(w timecalc.TimeWindow, day time.Weekday) bool {
	for _, name := range w.Days() {
		if name == day.String()[:3] {
			return true
		}
	}
	return false
}

// seed000Replicas follows the pseudo-code of seed 000, which T2 overrules: a window that crosses
// midnight also matches the early hours of the day it starts on.
func seed000Replicas(windows []timecalc.TimeWindow, replicas int32, now time.Time) int32 {
	hhmm := now.Format("15:04")
	for _, w := range windows {
		today, yesterday := listed(w, now.Weekday()), listed(w, (now.Weekday()+6)%7)
		in := today && w.Start() <= hhmm && hhmm < w.End()
		if w.CrossesMidnight() {
			in = today && (w.Start() <= hhmm || hhmm < w.End()) || yesterday && hhmm < w.End()
		}
		if in {
			replicas = w.Replicas()
		}
	}
	return replicas
}

// oneOffsetNext is the engine on a clock that never changes from the offset it has now.
func oneOffsetNext(windows []timecalc.TimeWindow, now time.Time) time.Time {
	_, offset := now.Zone()
	return timecalc.ComputeNextBoundary(windows, now.In(time.FixedZone("", offset))).In(now.Location())
}

// firstWins gives overlaps to the first window instead of the last.
func firstWins(windows []timecalc.TimeWindow, replicas int32, now time.Time) int32 {
	for _, w := range windows {
		if timecalc.ActiveWindow([]timecalc.TimeWindow{w}, now) == 0 {
			return w.Replicas()
		}
	}
	return replicas
}

func TestOracleFindsMutants(t *testing.T) {
	quiet, spring, autumn := "2026-06-10", "2026-03-29", "2026-10-25" // Europe/Berlin
	everyNight := []spec{{weekdays, "02:30", "04:30", 1}}
	fridayNight := []spec{{[]string{"Wed"}, "22:00", "02:00", 1}} // 2026-06-10 is a Wednesday
	overlap := []spec{{weekdays, "09:00", "17:00", 1}, {weekdays, "12:00", "13:00", 2}}
	tests := []struct {
		name      string
		mutant    engine
		date      string
		set       []spec
		wrongMins bool
		wrongNext bool
	}{
		{"the engine itself, spring", realEngine, spring, everyNight, false, false},
		{"the engine itself, autumn", realEngine, autumn, everyNight, false, false},
		{"time.Date, quiet night", engine{timecalc.ComputeEffectiveReplicas, timeDateNext}, quiet, everyNight, false, false},
		{"time.Date, spring", engine{timecalc.ComputeEffectiveReplicas, timeDateNext}, spring, everyNight, false, true},
		{"time.Date, autumn", engine{timecalc.ComputeEffectiveReplicas, timeDateNext}, autumn, everyNight, false, true},
		{"seed 000, daily", engine{seed000Replicas, timecalc.ComputeNextBoundary}, quiet, everyNight, false, false},
		{"seed 000, one night", engine{seed000Replicas, timecalc.ComputeNextBoundary}, quiet, fridayNight, true, false},
		{"one offset, quiet night", engine{timecalc.ComputeEffectiveReplicas, oneOffsetNext}, quiet, everyNight, false, false},
		{"one offset, spring", engine{timecalc.ComputeEffectiveReplicas, oneOffsetNext}, spring, everyNight, false, true},
		{"first wins, no overlap", engine{firstWins, timecalc.ComputeNextBoundary}, quiet, everyNight, false, false},
		{"first wins, overlap", engine{firstWins, timecalc.ComputeNextBoundary}, quiet, overlap, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zone := mustZone(t, "Europe/Berlin")
			tl := observe(around(tt.date, zone, clock(t, zone, tt.date+" 00:00").Unix()))
			f := tl.examine(tt.mutant, newSchedule(tt.set))
			if (f.wrongReplicas > 0) != tt.wrongMins || (f.wrongBoundaries > 0) != tt.wrongNext {
				t.Errorf("%d wrong minutes, %d wrong boundaries; want some: %t, %t; %s",
					f.wrongReplicas, f.wrongBoundaries, tt.wrongMins, tt.wrongNext, f.first)
			}
		})
	}
}
