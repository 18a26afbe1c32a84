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
		switch {
		case both && windows[e.Window].CrossesMidnight():
			lines = append(lines, edgeWarning(e, zone, path, plainEffect(e)))
		case both && e.Edge == timecalc.EdgeStart:
			lines = append(lines, windowClockWarning(e, windows, zone, path))
		case !both:
			lines = append(lines, edgeWarning(e, zone, path, effect(e)))
		}
	}
	return capWarnings(lines, len(lines), "%s: %d more starts or ends fall into clock changes within "+
		fmt.Sprint(clockChangeMonths)+" months", path)
}

// windowClockWarning is for a window that lies inside a skipped or repeated hour as a whole.
func windowClockWarning(e timecalc.IrregularEdge, windows []timecalc.TimeWindow, zone *time.Location, path *field.Path) string {
	fate := "does not run"
	if e.Kind == timecalc.Repeated {
		fate = "runs twice"
	}
	return fmt.Sprintf("%s %s on %s in %s: the clocks go %s", describeWindow(path, windows, e.Window), fate, e.Date, zone, shift(e))
}

// edgeWarning is for a single start or end.
func edgeWarning(e timecalc.IrregularEdge, zone *time.Location, path *field.Path, effect string) string {
	fate := "does not exist"
	if e.Kind == timecalc.Repeated {
		fate = "occurs twice"
	}
	return fmt.Sprintf("%s %s %s on %s in %s (the clocks go %s): the window %s",
		path.Index(e.Window).Child(e.Edge), e.Time, fate, e.Date, zone, shift(e), effect)
}

// effect says what the window does at an edge whose other edge is an ordinary one.
func effect(e timecalc.IrregularEdge) string {
	switch {
	case e.Kind == timecalc.Skipped:
		return plainEffect(e)
	case e.Edge == timecalc.EdgeStart:
		return "starts, stops when they go back, and starts again at the second " + e.Time
	default:
		return "ends, resumes when they go back, and ends again at the second " + e.Time
	}
}

// plainEffect says when the edge acts, and nothing about the time in between.
func plainEffect(e timecalc.IrregularEdge) string {
	if e.Kind == timecalc.Skipped {
		return e.Edge + "s at " + localTime(e.At[0], e.Date)
	}
	return e.Edge + "s both times"
}

// shift describes the clock change behind e: "forward from 02:00 to 03:00".
func shift(e timecalc.IrregularEdge) string {
	if e.Kind == timecalc.Skipped {
		return "forward from " + localTime(wallBefore(e.At[0]), e.Date) + " to " + localTime(e.At[0], e.Date)
	}
	_, change := e.At[0].ZoneBounds() // the first of the two lies in the span that the change ends
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
