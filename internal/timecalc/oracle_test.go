package timecalc_test

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// The oracle is a second implementation of the civil-time contract that shares nothing with the
// engine. It knows only one direction, UTC to local time, and asks it about every minute; where a zone
// has offsets or changes that are not whole minutes, about every second. It never computes an instant
// from a wall time.

// spec is a window in the words of its user.
type spec struct {
	days       []string
	start, end string
	replicas   int32
}

func (s spec) parse() timecalc.TimeWindow {
	w, err := timecalc.ParseWindow(s.days, s.start, s.end, s.replicas)
	if err != nil {
		panic(fmt.Sprintf("test window %v: %v", s, err))
	}
	return w
}

// reading is what a wall clock with a calendar shows at one instant.
type reading struct {
	weekday time.Weekday
	minute  int // of the day
	date    int // yyyymmdd
}

func readClock(local time.Time) reading {
	year, month, day := local.Date()
	return reading{local.Weekday(), local.Hour()*60 + local.Minute(), year*10000 + int(month)*100 + day}
}

// clockFaces lists 00:00 to 23:59.
var clockFaces = func() (faces [24 * 60]string) {
	for minute := range faces {
		faces[minute] = fmt.Sprintf("%02d:%02d", minute/60, minute%60)
	}
	return faces
}()

// covers says in the oracle's own words whether the window is open at this reading (seed 002).
func (s spec) covers(r reading) bool {
	listed := func(day time.Weekday) bool {
		for _, name := range s.days {
			if name == day.String()[:3] {
				return true
			}
		}
		return false
	}
	hhmm := clockFaces[r.minute]
	if s.start < s.end {
		return listed(r.weekday) && s.start <= hhmm && hhmm < s.end
	}
	yesterday := (r.weekday + 6) % 7
	return listed(r.weekday) && hhmm >= s.start || listed(yesterday) && hhmm < s.end
}

// schedule is a set of windows in both forms: the engine's, and for the oracle what covers gives for
// every weekday and minute, so that millions of questions are fast.
type schedule struct {
	specs    []spec
	windows  []timecalc.TimeWindow
	covering [7][24 * 60]uint64 // bit i: window i covers
}

func newSchedule(specs []spec) *schedule {
	s := &schedule{specs: specs}
	for i, window := range specs {
		s.windows = append(s.windows, window.parse())
		for weekday := range s.covering {
			for minute := range s.covering[weekday] {
				if window.covers(reading{weekday: time.Weekday(weekday), minute: minute}) {
					s.covering[weekday][minute] |= 1 << i
				}
			}
		}
	}
	return s
}

// replicas returns what the covering windows ask for: the last one wins, 0 without any.
func (s *schedule) replicas(covering uint64) int32 {
	for i := len(s.specs) - 1; i >= 0; i-- {
		if covering&(1<<i) != 0 {
			return s.specs[i].replicas
		}
	}
	return 0
}

// timeline is the oracle's record of a stretch and of the 25 hours after it.
type timeline struct {
	stretch
	step     int64 // seconds between readings: 60, or 1
	readings []reading
}

func observe(s stretch) timeline {
	if tl, ok := observeEvery(60, s); ok {
		return tl
	}
	tl, _ := observeEvery(1, s)
	return tl
}

// observeEvery reads the clock at each step. It reports false when that is too coarse: when a reading
// does not fall on a whole minute, or something else than 59 seconds of the same minute precedes one.
func observeEvery(step int64, s stretch) (timeline, bool) {
	tl := timeline{stretch: s, step: step}
	fine := true
	for unix := s.from; unix <= s.to+25*3600; unix += step {
		local := time.Unix(unix, 0).In(s.zone)
		tl.readings = append(tl.readings, readClock(local))
		if step > 1 && unix > s.from {
			last := time.Unix(unix-1, 0).In(s.zone)
			if local.Second() != 0 || last.Second() != 59 || readClock(last) != tl.readings[len(tl.readings)-2] {
				fine = false
				break
			}
		}
	}
	return tl, fine
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
	e := expectation{covering: make([]uint64, len(tl.readings)), next: make([]int64, len(tl.readings))}
	for i, r := range tl.readings {
		e.covering[i] = set.covering[r.weekday][r.minute]
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
	first           string // the first fault, in words
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
			f.first = tl.name + " " + fmt.Sprint(set.specs) + ": " + fmt.Sprintf(format, args...)
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
