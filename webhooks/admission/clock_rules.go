package admission

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/timecalc"
)

// clockChangeMonths is how far ahead clock changes are looked for: each of a year's changes is seen at
// least once, wherever in the year it moves.
const clockChangeMonths = 13

// edgeDate is one window on one local date.
type edgeDate struct {
	window int
	date   string
}

// clockChangeWarnings says which starts and ends fall into an hour that the clocks skip or repeat, and
// what the window then does (T1).
func clockChangeWarnings(windows []timecalc.TimeWindow, zone *time.Location, now time.Time, path *field.Path) []string {
	until := now.AddDate(0, clockChangeMonths, 0)
	edges := timecalc.IrregularEdges(windows, zone, now, until)
	edgesOn := make(map[edgeDate]int, len(edges))
	for _, e := range edges {
		edgesOn[edgeDate{e.Window, e.Date}]++
	}
	var lines []string
	for _, e := range edges {
		both := edgesOn[edgeDate{e.Window, e.Date}] == 2
		if line := clockChangeWarning(e, both, windows, path); line != "" {
			lines = append(lines, line)
		}
	}
	return capWarnings(lines, len(lines), "%s: %d more starts or ends fall into clock changes within "+
		fmt.Sprint(clockChangeMonths)+" months", path)
}

// clockChangeWarning says what happens at one edge, or "" where the other edge tells it or nothing out
// of the ordinary happens. both says that the window's other edge is irregular on the same date.
func clockChangeWarning(e timecalc.IrregularEdge, both bool, windows []timecalc.TimeWindow, path *field.Path) string {
	window, zone := windows[e.Window], e.At[0].Location()
	if e.Kind == timecalc.Skipped && e.Edge == timecalc.EdgeEnd && window.End() == "24:00" {
		return "" // the window ends where its day does, as it was told
	}
	whole, effect := skippedEffect(e, window)
	if e.Kind == timecalc.Repeated {
		whole, effect = repeatedEffect(e, both, window)
	}
	switch {
	case effect == "":
		return ""
	case whole:
		return fmt.Sprintf("%s (%s) %s on %s in %s: the clocks go %s", path.Index(e.Window), window.In(nil), effect, e.Date, zone, shift(e))
	}
	fate := map[string]string{timecalc.Skipped: "does not exist", timecalc.Repeated: "occurs twice"}[e.Kind]
	return fmt.Sprintf("%s %s %s on %s in %s (the clocks go %s): the window %s",
		path.Index(e.Window).Child(e.Edge), e.Time, fate, e.Date, zone, shift(e), effect)
}

// skippedEffect says what the window does when the time of edge e is left out, and whether that is
// about the window as a whole rather than the edge.
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
		return false, "runs on without a break" // its next start is skipped too, or is that minute
	default:
		return false, "" // the other edge tells
	}
}

// repeatedEffect is skippedEffect for a time that comes twice.
func repeatedEffect(e timecalc.IrregularEdge, both bool, window timecalc.TimeWindow) (whole bool, effect string) {
	start := e.Edge == timecalc.EdgeStart
	switch {
	case both && window.CrossesMidnight():
		return false, e.Edge + "s both times"
	case both && start:
		return true, "runs twice"
	case both:
		return false, "" // the start tells
	case start:
		return false, "starts, stops when they go back, and starts again at the second " + e.Time
	default:
		return false, "ends, resumes when they go back, and ends again at the second " + e.Time
	}
}

// shift describes the clock change behind e: "forward from 02:00 to 03:00".
func shift(e timecalc.IrregularEdge) string {
	if e.Kind == timecalc.Skipped {
		return "forward from " + localTime(wallBefore(e.At[0]), e.Date) + " to " + localTime(e.At[0], e.Date)
	}
	change := timecalc.ZoneEnd(e.At[0]) // the first of the two lies in the span that the change ends
	return "back from " + localTime(wallBefore(change), e.Date) + " to " + localTime(change, e.Date)
}

// wallBefore returns the instant of a clock change as the clocks show it that do not change.
func wallBefore(change time.Time) time.Time {
	name, offset := change.Add(-time.Nanosecond).Zone()
	return change.In(time.FixedZone(name, offset))
}

// localTime returns the local time of day, with its date where that is not the expected one. Midnight at
// the end of the expected date reads 24:00.
func localTime(t time.Time, date string) string {
	if got := t.Format(time.DateOnly); got != date {
		if yesterday := t.AddDate(0, 0, -1); yesterday.Format(time.DateOnly) == date && t.Format("15:04") == "00:00" {
			return "24:00"
		}
		return t.Format("15:04") + " on " + t.Format(time.DateOnly)
	}
	return t.Format("15:04")
}
