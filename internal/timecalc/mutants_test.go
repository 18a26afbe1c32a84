package timecalc_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// The oracle has to find the bug in these engines, and no bug where their
// mistake has no effect. Without this, an oracle that detects nothing would pass as well.

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

// listedDayReplicas does what T2 forbids: a window that crosses
// midnight also matches the early hours of the day it starts on.
func listedDayReplicas(windows []timecalc.TimeWindow, replicas int32, now time.Time) int32 {
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

// rewrite is an engine that misreads windows before it answers.
func rewrite(misread func(w timecalc.TimeWindow, now time.Time) timecalc.TimeWindow) engine {
	all := func(windows []timecalc.TimeWindow, now time.Time) []timecalc.TimeWindow {
		read := make([]timecalc.TimeWindow, len(windows))
		for i, w := range windows {
			read[i] = misread(w, now)
		}
		return read
	}
	return engine{
		func(windows []timecalc.TimeWindow, replicas int32, now time.Time) int32 {
			return timecalc.ComputeEffectiveReplicas(all(windows, now), replicas, now)
		},
		func(windows []timecalc.TimeWindow, now time.Time) time.Time {
			return timecalc.ComputeNextBoundary(all(windows, now), now)
		},
	}
}

// homeOnly reads every window in the schedule's zone.
func homeOnly(w timecalc.TimeWindow, _ time.Time) timecalc.TimeWindow { return w.In(nil) }

// homeChanges knows the clock changes of the schedule's zone alone: other clocks keep today's offset.
func homeChanges(w timecalc.TimeWindow, now time.Time) timecalc.TimeWindow {
	if w.Zone() == nil {
		return w
	}
	_, offset := now.In(w.Zone()).Zone()
	return w.In(time.FixedZone("", offset))
}

// midnightIsZero reads the end 24:00 as 00:00, so that nothing is left of a whole day.
func midnightIsZero(w timecalc.TimeWindow, _ time.Time) timecalc.TimeWindow {
	if w.End() != "24:00" {
		return w
	}
	read, err := timecalc.ParseWindow(w.Days(), w.Start(), "00:00", w.Replicas())
	if err != nil {
		return timecalc.TimeWindow{}
	}
	return read.In(w.Zone())
}

// lastMinute reads the end 24:00 as 23:59.
func lastMinute(w timecalc.TimeWindow, _ time.Time) timecalc.TimeWindow {
	if w.End() != "24:00" {
		return w
	}
	read, err := timecalc.ParseWindow(w.Days(), w.Start(), "23:59", w.Replicas())
	if err != nil {
		panic(err)
	}
	return read.In(w.Zone())
}

// TestOracleFindsMutantsAbroad: New York's clock changes on 2026-03-08, Berlin's on 2026-03-29.
func TestOracleFindsMutantsAbroad(t *testing.T) {
	berlin, newYork := mustZone(t, "Europe/Berlin"), mustZone(t, "America/New_York")
	office := spec{weekdays, "09:00", "17:00", 1}
	tests := []struct {
		name      string
		mutant    engine
		date      string
		set       *schedule
		wrongMins bool
		wrongNext bool
	}{
		{"the engine itself", realEngine, "2026-03-08", newSchedule([]spec{office, office}).in(nil, newYork), false, false},
		{"home only, all at home", rewrite(homeOnly), "2026-03-08", newSchedule([]spec{office}), false, false},
		{"home only, one abroad", rewrite(homeOnly), "2026-03-08", newSchedule([]spec{office}).in(newYork), true, true},
		{"home's changes, quiet night", rewrite(homeChanges), "2026-06-10", newSchedule([]spec{office}).in(newYork), false, false},
		{"home's changes, home's night", rewrite(homeChanges), "2026-03-29", newSchedule([]spec{office}).in(newYork), false, false},
		{"home's changes, night abroad", rewrite(homeChanges), "2026-03-08", newSchedule([]spec{office}).in(newYork), false, true},
		{"24:00 is 00:00, evening", rewrite(midnightIsZero), "2026-06-10", newSchedule([]spec{{weekdays, "18:00", "24:00", 1}}), false, false},
		{"24:00 is 00:00, whole days", rewrite(midnightIsZero), "2026-06-10", newSchedule([]spec{{weekdays[1:3], "00:00", "24:00", 1}}), true, false},
		{"24:00 is 23:59", rewrite(lastMinute), "2026-06-10", newSchedule([]spec{{weekdays, "18:00", "24:00", 1}}), true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tl := observe(around(tt.date, berlin, clock(t, berlin, tt.date+" 00:00").Unix()), newYork)
			f := tl.examine(tt.mutant, tt.set)
			if (f.wrongReplicas > 0) != tt.wrongMins || (f.wrongBoundaries > 0) != tt.wrongNext {
				t.Errorf("%d wrong minutes, %d wrong boundaries; want some: %t, %t; %s",
					f.wrongReplicas, f.wrongBoundaries, tt.wrongMins, tt.wrongNext, f.first)
			}
		})
	}
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
		{"listed day, daily", engine{listedDayReplicas, timecalc.ComputeNextBoundary}, quiet, everyNight, false, false},
		{"listed day, one night", engine{listedDayReplicas, timecalc.ComputeNextBoundary}, quiet, fridayNight, true, false},
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
