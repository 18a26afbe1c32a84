package timecalc

import (
	"cmp"
	"slices"
	"time"
)

// The kinds of IrregularEdge.
const (
	Skipped  = "skipped"  // the clock never shows the edge's time on that date
	Repeated = "repeated" // the clock shows it twice, and the window acts on it twice
)

// The values of IrregularEdge.Edge.
const (
	EdgeStart = "start"
	EdgeEnd   = "end"
)

// IrregularEdge is a start or end of a window that a clock change hits.
type IrregularEdge struct {
	Window int         // index into the windows
	Edge   string      // EdgeStart or EdgeEnd
	Date   string      // local date of the edge, YYYY-MM-DD; for an end at or after midnight the later date
	Time   string      // local time of the edge, HH:MM; 00:00 for an end of 24:00
	Kind   string      // Skipped or Repeated
	At     []time.Time // the instants it acts at, in the window's zone: one when skipped, two when repeated
}

// IrregularEdges returns the edges that the clock changes at or after from and before until skip or
// repeat, on dates on which the window does start or end, sorted by instant. Each window is held against
// the changes of its own zone, or of zone where it has none. A skipped edge acts at the
// first instant after the gap (T1); a date that is left out entirely counts as skipped. A window
// that lies inside a gap does not run at all: both its edges are listed. The work grows with the number
// of clock changes, not with the time between from and until.
func IrregularEdges(windows []TimeWindow, zone *time.Location, from, until time.Time) []IrregularEdge {
	var found []IrregularEdge
	for i, w := range windows {
		for at := from.In(w.zoneOr(zone)).Add(-1); ; { // a nanosecond before, so that a change at from counts
			change := ZoneEnd(at)
			if change.IsZero() || !change.Before(until) {
				break
			}
			found = w.appendIrregular(found, i, EdgeStart, change)
			found = w.appendIrregular(found, i, EdgeEnd, change)
			at = change
		}
	}
	slices.SortStableFunc(found, func(a, b IrregularEdge) int {
		return cmp.Or(a.At[0].Compare(b.At[0]), cmp.Compare(a.Window, b.Window))
	})
	return found
}

// edge returns the minute of the day and the days of one kind of edge. An end of 24:00 lies on the next
// day at 00:00.
func (h hours) edge(kind string) (minute int16, days dayMask) {
	switch {
	case kind == EdgeStart:
		return h.start, h.opens
	case h.end == minutesPerDay:
		return 0, h.closes.next()
	default:
		return h.end, h.closes
	}
}

// appendIrregular appends what one clock change does to one kind of edge of window w.
func (w TimeWindow) appendIrregular(found []IrregularEdge, index int, edge string, change time.Time) []IrregularEdge {
	minute, days := w.edge(edge)
	after := wallSeconds(change)
	_, offset := change.Add(-1).Zone()
	before := change.Unix() + int64(offset)
	// A gap skips [before, after), an overlap repeats [after, before).
	first, _ := splitDay(min(before, after))
	last, _ := splitDay(max(before, after))
	for day := first; day <= last; day++ {
		wall := day*secondsPerDay + int64(minute)*60
		if days&maskOf(day) == 0 || wall < min(before, after) || wall >= max(before, after) {
			continue
		}
		e := IrregularEdge{
			Window: index, Edge: edge, Time: clockText(minute),
			Date: time.Unix(day*secondsPerDay, 0).UTC().Format(time.DateOnly),
		}
		if before < after {
			e.Kind, e.At = Skipped, []time.Time{change}
			found = append(found, e)
			continue
		}
		once := instant(wall-int64(offset), change)
		twice := instant(change.Unix()+wall-after, change)
		if w.actsAt(once) && w.actsAt(twice) {
			e.Kind, e.At = Repeated, []time.Time{once, twice}
			found = append(found, e)
		}
	}
	return found
}

// actsAt reports whether the coverage of w changes at t. A window that opens at the first minute of a
// repeated hour and runs past it stays open when that minute comes again.
func (w TimeWindow) actsAt(t time.Time) bool {
	return w.covers(momentAt(wallSeconds(t))) != w.covers(momentAt(wallSeconds(t.Add(-1))))
}
