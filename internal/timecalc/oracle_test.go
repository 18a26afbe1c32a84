package timecalc_test

import (
	"fmt"
	"slices"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// The oracle is a second implementation of the civil-time contract that shares nothing with the
// engine. It knows only one direction, UTC to local time, and asks it about every minute; where a zone
// has offsets or changes that are not whole minutes, about every second. A window in its own zone has
// its own clock. It never computes an instant
// from a wall time.

// timeline is the oracle's record of a stretch and of the 25 hours after it.
type timeline struct {
	stretch
	step     int64                        // seconds between readings: 60, or 1
	readings []reading                    // of the stretch's own zone
	abroad   map[*time.Location][]reading // of other zones
}

// observe reads the clocks of the stretch's zone and of some others all through it.
func observe(s stretch, others ...*time.Location) timeline {
	if tl, ok := observeEvery(60, s, others); ok {
		return tl
	}
	tl, _ := observeEvery(1, s, others)
	return tl
}

// observeEvery reads the clocks at each step. It reports false when that is too coarse for one of them.
func observeEvery(step int64, s stretch, others []*time.Location) (timeline, bool) {
	readings, fine := readEvery(step, s, s.zone)
	tl := timeline{stretch: s, step: step, readings: readings, abroad: make(map[*time.Location][]reading, len(others))}
	for _, zone := range others {
		if !fine {
			break
		}
		tl.abroad[zone], fine = readEvery(step, s, zone)
	}
	return tl, fine
}

// readEvery reads one clock at each step. It reports false when that is too coarse: when a reading does
// not fall on a whole minute, or something else than 59 seconds of the same minute precedes one.
func readEvery(step int64, s stretch, zone *time.Location) (readings []reading, fine bool) {
	for unix := s.from; unix <= s.to+25*3600; unix += step {
		local := time.Unix(unix, 0).In(zone)
		readings = append(readings, readClock(local))
		if step > 1 && unix > s.from {
			last := time.Unix(unix-1, 0).In(zone)
			if local.Second() != 0 || last.Second() != 59 || readClock(last) != readings[len(readings)-2] {
				return nil, false
			}
		}
	}
	return readings, true
}

// coverings returns for each reading which windows of a schedule cover.
func (tl timeline) coverings(set *schedule) []uint64 {
	all := make([]uint64, len(tl.readings))
	zones := slices.Clone(set.zones)
	for len(zones) > 0 { // one clock after the other: the windows that go by it, at all readings
		zone := zones[0]
		zones = slices.DeleteFunc(zones, func(z *time.Location) bool { return z == zone })
		var own uint64
		for i, z := range set.zones {
			if z == zone {
				own |= 1 << i
			}
		}
		readings := tl.readings
		if zone != nil {
			readings = tl.abroad[zone]
		}
		for i, r := range readings {
			all[i] |= set.covering[r.weekday][r.minute] & own
		}
	}
	return all
}

func (tl timeline) unix(i int) int64 { return tl.from + int64(i)*tl.step }

// count is how many readings lie in the stretch itself.
func (tl timeline) count() int { return int((tl.to-tl.from)/tl.step) + 1 }

// expectation is the oracle's answer for one window set, by index of the reading.
type expectation struct {
	covering []uint64 // bit i: window i covers
	next     []int64  // the answer ComputeNextBoundary owes (T4), Unix seconds
	changes  []int    // indexes at which the coverage of a window has changed
}

func (tl timeline) expect(set *schedule) expectation {
	e := expectation{covering: tl.coverings(set), next: make([]int64, len(tl.readings))}
	for i := range tl.readings {
		if i > 0 && e.covering[i] != e.covering[i-1] {
			e.changes = append(e.changes, i)
		}
	}
	const never = 1 << 62
	change, date := int64(never), int64(never)
	for i := len(tl.readings) - 1; i >= 0; i-- {
		now := tl.unix(i)
		if e.next[i] = change; change > now+24*3600 {
			e.next[i] = min(date, now+24*3600)
		}
		if i > 0 && e.covering[i] != e.covering[i-1] {
			change = now
		}
		if i > 0 && tl.readings[i].date != tl.readings[i-1].date {
			date = now
		}
	}
	return e
}

// engine is what the oracle examines: the package's functions, or a mutant of them.
type engine struct {
	evaluate func([]timecalc.TimeWindow, int32, time.Time) int32
	next     func([]timecalc.TimeWindow, time.Time) time.Time
}

var realEngine = engine{timecalc.ComputeEffectiveReplicas, timecalc.ComputeNextBoundary}

// findings counts what an examination saw.
type findings struct {
	minutes         int // minutes of wall clock times window sets
	wrongReplicas   int
	wrongBoundaries int
	boundaries      int    // changes of coverage that the walk had to hit
	first           string // a description of the first fault
}

func (f *findings) add(g findings) {
	f.minutes += g.minutes
	f.wrongReplicas += g.wrongReplicas
	f.wrongBoundaries += g.wrongBoundaries
	f.boundaries += g.boundaries
	if f.first == "" {
		f.first = g.first
	}
}

// nextEvery is how often, in minutes, examine asks for the next boundary between the changes. It shares
// no factor with an hour or a day.
const nextEvery = 7

// examine compares the replicas with the oracle's at every minute of a stretch, and the next boundary
// every few minutes, at each change, and a nanosecond before it.
func (tl timeline) examine(e engine, set *schedule) findings {
	var f findings
	fault := func(counter *int, format string, args ...any) {
		*counter++
		if f.first == "" {
			f.first = tl.name + " " + fmt.Sprint(set.windows) + ": " + fmt.Sprintf(format, args...)
		}
	}
	want := tl.expect(set)
	ask := func(i int, now time.Time) {
		if got, want := e.evaluate(set.windows, 0, now), set.replicas(want.covering[i]); got != want {
			fault(&f.wrongReplicas, "at %v: %d replicas, want %d", now, got, want)
		}
	}
	askNext := func(now time.Time, wantNext int64) {
		if got := e.next(set.windows, now); got.Unix() != wantNext || !got.After(now) || got.Location() != tl.zone {
			fault(&f.wrongBoundaries, "next after %v: %v, want %v", now, got, time.Unix(wantNext, 0).In(tl.zone))
		}
	}
	for i := 0; i < tl.count(); i += int(60 / tl.step) {
		now := time.Unix(tl.unix(i), 0).In(tl.zone)
		ask(i, now)
		if f.minutes%nextEvery == 0 {
			askNext(now, want.next[i])
		}
		f.minutes++
	}
	for _, i := range want.changes {
		if i >= tl.count() {
			break
		}
		f.boundaries++
		change := time.Unix(tl.unix(i), 0).In(tl.zone)
		ask(i-1, change.Add(-1)) // a nanosecond before, nothing has changed yet
		askNext(change.Add(-1), change.Unix())
		ask(i, change)
		askNext(change, want.next[i])
	}
	return f
}
