package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// WindowState is whether a window covers the instant, and if not, why.
type WindowState string

// The states of windows. They are part of the JSON, which is stable.
const (
	Decides   WindowState = "Decides"
	Outranked WindowState = "Outranked" // it covers the instant, but so does a later one
	Holiday   WindowState = "Holiday"   // it covers the instant, but the holiday decides
	Ended     WindowState = "Ended"     // today
	NotYet    WindowState = "NotYet"    // it begins later today
	NotToday  WindowState = "NotToday"
	Skipped   WindowState = "Skipped" // a clock change skips it today
	LeftOut   WindowState = "LeftOut" // its zone is unknown (B5)
)

// furthestEdge is how far the next start or end of a window is searched: it may be skipped in one week by a clock change.
const furthestEdge = 22 * 24 * time.Hour

// Window is the state of a window at the instant.
type Window struct {
	Label string // as in status.currentWindow
	When  string // days and times, and the zone if it is the window's own
	// Count is its count, with the arithmetic of a percentage.
	Count    string
	Replicas int32
	State    WindowState
	Why      string
	// Notes are about starts and ends that a clock change skips or repeats.
	Notes []string
}

// view is a window without the others, on its own clock.
type view struct {
	window timecalc.TimeWindow
	alone  timecalc.Calendar
	at     time.Time
	covers bool
	// since is the last start or end up to at, next the first one after it; zero if there is none near.
	since, next time.Time
}

// viewOf isolates a window from others and from holidays, which hide its starts and ends.
func (e *Explanation) viewOf(i int) view {
	window := e.Scaler.Calendar.Windows[i]
	zone := window.Zone()
	if zone == nil {
		zone = e.At.Location()
	}
	v := view{window: window, alone: timecalc.Calendar{Zone: zone, Windows: []timecalc.TimeWindow{window.In(nil)}}, at: e.At.In(zone)}
	v.covers = v.coversAt(v.at)
	v.since = v.alone.Since(v.at)
	for t := v.alone.NextBoundary(v.at); t.Sub(v.at) <= furthestEdge; t = v.alone.NextBoundary(t) {
		if v.coversAt(t) != v.covers {
			v.next = t
			break
		}
	}
	return v
}

// coversAt is the calendar's answer, as in the controller.
func (v *view) coversAt(t time.Time) bool { return v.alone.At(t).Window == 0 }

// isToday reports whether t is on the local date of the instant.
func (v *view) isToday(t time.Time) bool {
	return !t.IsZero() && t.Format(time.DateOnly) == v.at.Format(time.DateOnly)
}

func (e *Explanation) window(i int) Window {
	calendar := &e.Scaler.Calendar
	w := calendar.Windows[i]
	out := Window{Replicas: e.replicas(i), Count: e.countOf(i)}
	if len(w.Days()) == 0 {
		spec := e.Scaler.Spec.Windows[i]
		out.When, out.State = spec.Start+"-"+spec.End+" "+spec.Timezone, LeftOut
		out.Label, out.Why = spec.Name, "ignored: unknown time zone "+spec.Timezone
		return out
	}
	out.Label, out.When = calendar.Label(timecalc.Verdict{Window: i}), w.String()
	v := e.viewOf(i)
	out.State, out.Why = e.stateOf(i, &v)
	if w.Zone() != nil {
		out.Why += "; local time there is " + v.at.Format("Mon 15:04")
	}
	if out.State != Skipped {
		out.Notes = v.irregular()
	}
	return out
}

// stateOf is the state of a window at the instant, and why.
func (e *Explanation) stateOf(i int, v *view) (WindowState, string) {
	switch {
	case v.covers && e.verdict.Override:
		return Holiday, "overridden by the holiday: " + v.period()
	case v.covers && e.verdict.Window == i:
		return Decides, "decides: " + v.period()
	case v.covers:
		return Outranked, fmt.Sprintf("overridden by window %d, which is later in the list: %s", e.verdict.Window+1, v.period())
	case v.isToday(v.since):
		return Ended, "ended at " + v.moment(v.since) + ", " + ago(v.at.Sub(v.since)) + v.again()
	case v.isToday(v.next):
		text := "begins at " + v.moment(v.next) + ", " + in(v.next.Sub(v.at))
		if e.verdict.Override {
			text += ", but the holiday decides"
		}
		return NotYet, text
	case !slices.Contains(v.window.Days(), v.at.Format("Mon")):
		days, _, _ := strings.Cut(v.window.String(), " ")
		return NotToday, "not on " + v.at.Weekday().String() + ": begins on " + days + " only" + v.again()
	default:
		return Skipped, "not today: the clock change skips all of it" + v.again()
	}
}

func (v *view) period() string {
	text := "at all times"
	switch {
	case !v.since.IsZero() && !v.next.IsZero():
		text = fmt.Sprintf("from %s (%s) to %s (%s)", v.moment(v.since), ago(v.at.Sub(v.since)), v.moment(v.next), in(v.next.Sub(v.at)))
	case !v.next.IsZero():
		text = "until " + v.moment(v.next) + " (" + in(v.next.Sub(v.at)) + ")"
	case !v.since.IsZero():
		text = "since " + v.moment(v.since) + " (" + ago(v.at.Sub(v.since)) + ")"
	}
	if v.window.CrossesMidnight() && !v.since.IsZero() && !v.isToday(v.since) {
		text += "; it began on " + v.since.Weekday().String() + ", before midnight"
	}
	return text
}

func (v *view) again() string {
	if v.next.IsZero() {
		return ""
	}
	return "; next " + v.moment(v.next) + ", " + in(v.next.Sub(v.at))
}

// moment is a time on the window's clock, with the day unless it is today, and the date if it is not within six days.
func (v *view) moment(t time.Time) string {
	switch apart := t.Sub(v.at).Abs(); {
	case v.isToday(t):
		return t.Format("15:04")
	case apart < 6*24*time.Hour:
		return t.Format("Mon 15:04")
	default:
		return t.Format("Mon 2006-01-02 15:04")
	}
}

// irregular are the starts and ends that a clock change skips or repeats on the date of the instant, or since the window began.
func (v *view) irregular() (notes []string) {
	const around = 26 * time.Hour
	names := map[string]string{timecalc.EdgeStart: "start", timecalc.EdgeEnd: "end"}
	for _, edge := range timecalc.IrregularEdges(v.alone.Windows, v.alone.Zone, v.at.Add(-around), v.at.Add(around)) {
		if edge.Date != v.at.Format(time.DateOnly) && (!v.covers || edge.At[0].Before(v.since)) {
			continue
		}
		if edge.Kind == timecalc.Skipped {
			notes = append(notes, fmt.Sprintf("on %s the clock skips %s, so the %s is at %s",
				edge.Date, edge.Time, names[edge.Edge], edge.At[0].Format("15:04 MST")))
			continue
		}
		notes = append(notes, fmt.Sprintf("on %s the clock shows %s twice, so there is a %s at %s and at %s",
			edge.Date, edge.Time, names[edge.Edge], edge.At[0].Format("15:04 MST"), edge.At[1].Format("15:04 MST")))
	}
	return notes
}
