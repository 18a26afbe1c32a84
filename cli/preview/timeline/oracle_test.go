package timeline_test

import (
	"fmt"
	"slices"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// The oracle works out a timeline from the fields of a spec alone. It reads every clock minute by minute, in the one direction from
// UTC to local time, and shares nothing with the engine: no parser, no boundaries, no days.
type oracle struct {
	spec     *v1beta1.TimeWindowScalerSpec
	zone     *time.Location
	abroad   []*time.Location // of each window; nil: zone
	holidays []string
}

// answer is who decides at an instant, and what.
type answer struct {
	replicas int32
	index    int
	holiday  string
	override bool
}

// covers reports whether a window is open while its clock shows this (R1, T1, T2).
func covers(w *v1beta1.Window, local time.Time) bool {
	listed := func(day time.Time) bool { return slices.Contains(w.Days, v1beta1.Weekday(day.Weekday().String()[:3])) }
	shown := fmt.Sprintf("%02d:%02d", local.Hour(), local.Minute())
	if w.Start < w.End {
		return listed(local) && w.Start <= shown && shown < w.End
	}
	yesterday := time.Date(local.Year(), local.Month(), local.Day()-1, 12, 0, 0, 0, time.UTC)
	return listed(local) && shown >= w.Start || listed(yesterday) && shown < w.End
}

func (o *oracle) clock(window int) *time.Location {
	if o.abroad[window] != nil {
		return o.abroad[window]
	}
	return o.zone
}

func (o *oracle) at(now time.Time) answer {
	a := answer{replicas: o.spec.DefaultReplicas.IntVal, index: -1}
	mode := v1beta1.HolidayIgnore
	if o.spec.Holidays != nil {
		mode = o.spec.Holidays.Mode
	}
	if date := now.In(o.zone).Format("2006-01-02"); mode != v1beta1.HolidayIgnore && slices.Contains(o.holidays, date) {
		a.holiday, a.override = date, true
		for _, w := range o.spec.Windows {
			if mode == v1beta1.HolidayOpen {
				a.replicas = max(a.replicas, w.Replicas.IntVal)
			}
		}
		if mode == v1beta1.HolidayOpen && len(o.spec.Windows) > 0 {
			a.replicas = slices.MaxFunc(o.spec.Windows, func(a, b v1beta1.Window) int { return int(a.Replicas.IntVal - b.Replicas.IntVal) }).Replicas.IntVal
		}
		return a
	}
	for i := range o.spec.Windows {
		if covers(&o.spec.Windows[i], now.In(o.clock(i))) {
			a.replicas, a.index = o.spec.Windows[i].Replicas.IntVal, i
		}
	}
	return a
}

// offset is how far east of UTC a clock is.
func offset(now time.Time, zone *time.Location) int {
	_, seconds := now.In(zone).Zone()
	return seconds
}

// byClock reports whether what changes at now does so because a clock is changed: neither the old clock running on, nor the new one if
// it had been right before, would have opened or closed the window that did.
func (o *oracle) byClock(before, after answer, now time.Time) bool {
	window := max(before.index, after.index)
	last := now.Add(-time.Minute)
	was, is := offset(last, o.clock(window)), offset(now, o.clock(window))
	flips := func(offset int) bool {
		zone := time.FixedZone("", offset)
		return covers(&o.spec.Windows[window], last.In(zone)) != covers(&o.spec.Windows[window], now.In(zone))
	}
	return was != is && !flips(was) && !flips(is)
}

func (o *oracle) reason(before, after answer, now time.Time) timeline.Reason {
	switch {
	case after.override:
		return timeline.HolidayStarted
	case before.override:
		return timeline.HolidayEnded
	case o.byClock(before, after, now):
		return timeline.ClockChange
	case after.index >= 0:
		return timeline.WindowEntered
	default:
		return timeline.WindowLeft
	}
}

// record is what oracle and engine must agree on, in lines: people can read the difference.
type record struct {
	Segments, Transitions, Days []string
	Seconds                     int64
	Highest                     int32
}

const second = "2006-01-02T15:04:05Z"

func segmentLine(start time.Time, a answer) string {
	return fmt.Sprintf("%s %d window %d holiday %q %t", start.UTC().Format(second), a.replicas, a.index, a.holiday, a.override)
}

func transitionLine(at time.Time, from, to int32, reason timeline.Reason) string {
	return fmt.Sprintf("%s %d>%d %s", at.UTC().Format(second), from, to, reason)
}

func dayLine(date string, holiday, changed bool, seconds int64) string {
	return fmt.Sprintf("%s holiday %t clock %t %d", date, holiday, changed, seconds)
}

// walk goes through [from, until) minute by minute.
func (o *oracle) walk(from, until time.Time) record {
	from, until = from.Truncate(time.Second), until.Truncate(time.Second)
	r := record{}
	var last answer
	var date string
	var sum int64
	holiday, changed := false, false
	endDay := func() { r.Days = append(r.Days, dayLine(date, holiday, changed, sum)) }
	for now := from; now.Before(until); {
		next := now.Truncate(time.Minute).Add(time.Minute)
		if next.After(until) {
			next = until
		}
		a := o.at(now)
		if now.Equal(from) || a != last {
			r.Segments = append(r.Segments, segmentLine(now, a))
			if !now.Equal(from) && a.replicas != last.replicas {
				r.Transitions = append(r.Transitions, transitionLine(now, last.replicas, a.replicas, o.reason(last, a, now)))
			}
		}
		if today := now.In(o.zone).Format("2006-01-02"); today != date {
			if date != "" {
				endDay()
			}
			date, sum, holiday, changed = today, 0, a.override, false
		}
		changed = changed || offset(now, o.zone) != offset(now.Add(-time.Second), o.zone)
		share := int64(a.replicas) * int64(next.Sub(now)/time.Second)
		sum, r.Seconds, r.Highest = sum+share, r.Seconds+share, max(r.Highest, a.replicas)
		last, now = a, next
	}
	endDay()
	return r
}

// recordOf is the engine's timeline.
func recordOf(t *timeline.Timeline) record {
	r := record{Seconds: t.Seconds, Highest: t.Highest}
	for _, s := range t.Segments {
		r.Segments = append(r.Segments, segmentLine(s.Start, answer{s.Replicas, s.Index, s.Holiday, s.Override}))
	}
	for _, tr := range t.Transitions {
		r.Transitions = append(r.Transitions, transitionLine(tr.Time, tr.From, tr.To, tr.Reason))
	}
	for _, d := range t.Days {
		r.Days = append(r.Days, dayLine(d.Date, d.Holiday, d.Change != nil, d.Seconds))
	}
	return r
}
