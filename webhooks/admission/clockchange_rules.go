package admission

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/timecalc"
)

// clockChangeMonths is how far ahead clock changes are reported: far enough to include each of a year's
// changes at least once, even if its date varies.
const clockChangeMonths = 13

// edgeDate is one window on one local date.
type edgeDate struct {
	window int
	date   string
}

// checkClockChanges reports which starts and ends are in an hour that the clocks skip or repeat, and what the
// window then does (T1).
func (all *Findings) checkClockChanges(windows []timecalc.TimeWindow, zone *time.Location, now time.Time, path *field.Path) {
	until := now.AddDate(0, clockChangeMonths, 0)
	edges := timecalc.IrregularEdges(windows, zone, now, until)
	edgesOn := make(map[edgeDate]int, len(edges))
	for _, e := range edges {
		edgesOn[edgeDate{e.Window, e.Date}]++
	}
	var listed Findings
	for _, e := range edges {
		both := edgesOn[edgeDate{e.Window, e.Date}] == 2
		listed.checkClockChange(e, both, windows, path)
	}
	all.warnListed(listed, len(listed), path, fmt.Sprintf("starts or ends are affected by clock changes within %d months", clockChangeMonths))
}

// checkClockChange reports what happens at one edge, unless the other edge reports it or the window runs as
// usual. both reports whether the window's other edge is irregular on the same date.
func (all *Findings) checkClockChange(e timecalc.IrregularEdge, both bool, windows []timecalc.TimeWindow, path *field.Path) {
	window, zone := windows[e.Window], e.At[0].Location()
	if e.Kind == timecalc.Skipped && e.Edge == timecalc.EdgeEnd && window.End() == "24:00" {
		return // the window ends with its day, as specified
	}
	whole, effect := skippedEffect(e, window)
	if e.Kind == timecalc.Repeated {
		whole, effect = repeatedEffect(e, both, window)
	}
	switch {
	case effect == "":
	case whole:
		all.warn(ClockChange, path.Index(e.Window), "%s %s on %s in %s: clocks go %s", window.In(nil), effect, e.Date, zone, shift(e))
	default:
		problem := map[string]string{timecalc.Skipped: "does not exist", timecalc.Repeated: "occurs twice"}[e.Kind]
		all.warn(ClockChange, path.Index(e.Window).Child(e.Edge), "%s %s on %s in %s (clocks go %s): the window %s",
			e.Time, problem, e.Date, zone, shift(e), effect)
	}
}

// skippedEffect returns what the window does if the time of edge e is skipped, and whether that is about the
// whole window rather than the edge.
func skippedEffect(e timecalc.IrregularEdge, window timecalc.TimeWindow) (whole bool, effect string) {
	alone := []timecalc.TimeWindow{window}
	before := timecalc.ActiveWindow(alone, e.At[0].Add(-time.Nanosecond)) == 0
	after := timecalc.ActiveWindow(alone, e.At[0]) == 0
	start := e.Edge == timecalc.EdgeStart
	switch {
	case start && after && !before, !start && before && !after:
		return false, e.Edge + "s at " + localTime(e.At[0], e.Date)
	case start && !after:
		return true, "does not run" // its end is skipped too, or is the first minute after the gap
	case !start && before && after:
		return false, "continues without interruption" // its next start is skipped too, or is that minute
	default:
		return false, "" // reported by the other edge
	}
}

// repeatedEffect is skippedEffect for a time that occurs twice.
func repeatedEffect(e timecalc.IrregularEdge, both bool, window timecalc.TimeWindow) (whole bool, effect string) {
	start := e.Edge == timecalc.EdgeStart
	switch {
	case both && window.CrossesMidnight():
		return false, e.Edge + "s both times"
	case both && start:
		return true, "runs twice"
	case both:
		return false, "" // reported by the start
	case start:
		return false, "starts, stops when clocks go back, and starts again at the second " + e.Time
	default:
		return false, "ends, resumes when clocks go back, and ends again at the second " + e.Time
	}
}

// shift describes the clock change behind e: "forward from 02:00 to 03:00".
func shift(e timecalc.IrregularEdge) string {
	if e.Kind == timecalc.Skipped {
		return "forward from " + localTime(wallBefore(e.At[0]), e.Date) + " to " + localTime(e.At[0], e.Date)
	}
	change := timecalc.ZoneEnd(e.At[0]) // the first of the two is before the change
	return "back from " + localTime(wallBefore(change), e.Date) + " to " + localTime(change, e.Date)
}

// wallBefore returns the instant of a clock change in the offset before it.
func wallBefore(change time.Time) time.Time {
	name, offset := change.Add(-time.Nanosecond).Zone()
	return change.In(time.FixedZone(name, offset))
}

// localTime returns the local time of day, with the date unless it is the expected one. Midnight at the end of
// the expected date is 24:00.
func localTime(t time.Time, date string) string {
	if got := t.Format(time.DateOnly); got != date {
		if yesterday := t.AddDate(0, 0, -1); yesterday.Format(time.DateOnly) == date && t.Format("15:04") == "00:00" {
			return "24:00"
		}
		return t.Format("15:04") + " on " + t.Format(time.DateOnly)
	}
	return t.Format("15:04")
}
