package timecalc_test

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// spec is a window as users write it.
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

// covers is the oracle's own implementation of whether the window is open at this reading (R1, T1, T2).
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
	zones    []*time.Location   // of each window; nil: the schedule's
	covering [7][24 * 60]uint64 // bit i: window i covers when its clock shows this
}

func newSchedule(specs []spec) *schedule {
	s := &schedule{specs: specs, zones: make([]*time.Location, len(specs))}
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

// in gives each window its own zone.
func (s *schedule) in(zones ...*time.Location) *schedule {
	s.zones = zones
	for i, zone := range zones {
		s.windows[i] = s.windows[i].In(zone)
	}
	return s
}

// coveringAt returns which windows cover when the clock at home and that of all windows abroad show this.
func (s *schedule) coveringAt(home, abroad reading) uint64 {
	var covering uint64
	for i, zone := range s.zones {
		r := home
		if zone != nil {
			r = abroad
		}
		covering |= s.covering[r.weekday][r.minute] & (1 << i)
	}
	return covering
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
