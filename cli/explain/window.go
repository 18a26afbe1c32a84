package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// WindowState says whether a window covers the instant, and if not, why.
type WindowState string

// The states of windows. They are part of the JSON, which is stable.
const (
	Decides   WindowState = "Decides"
	Outranked WindowState = "Outranked" // it covers the instant, and so does a later one
	Holiday   WindowState = "Holiday"   // it covers the instant, and the holiday decides
	Ended     WindowState = "Ended"     // today
	NotYet    WindowState = "NotYet"    // it begins later today
	NotToday  WindowState = "NotToday"
	Skipped   WindowState = "Skipped" // the clock leaves it out today
	LeftOut   WindowState = "LeftOut" // its zone is not known here (B5)
)

// furthestEdge is how far the next start or end of a window is looked for: further than a week that a clock change leaves out.
const furthestEdge = 22 * 24 * time.Hour

// Window is what one window of the list does at the instant.
type Window struct {
	Label string // as status.currentWindow would have it
	When  string // days and times, and the zone if it is the window's own
	// Count is what it asks for, with the arithmetic.
	Count    string
	Replicas int32
	State    WindowState
	Why      string
	// Notes tell of edges that a clock change moves or doubles.
	Notes []string
}

// view is one window by itself, on its own clock.
type view struct {
	window timecalc.TimeWindow
	alone  timecalc.Calendar
	at     time.Time
	covers bool
	// since is the last edge up to at, next the first one after it; zero if there is none for long.
	since, next time.Time
}

// look takes a window out of its list, as if it were the only one, in its own zone: other windows and holidays hide its edges.
func (e *Explanation) look(i int) view {
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

// coversAt is the calendar's own answer, so that this and the controller cannot differ.
func (v *view) coversAt(t time.Time) bool { return v.alone.At(t).Window == 0 }

// isToday reports whether t is on the local date of the instant.
func (v *view) isToday(t time.Time) bool {
	return !t.IsZero() && t.Format(time.DateOnly) == v.at.Format(time.DateOnly)
}

// window explains one window of the list.
func (e *Explanation) window(i int) Window {
	calendar := &e.Scaler.Calendar
	w := calendar.Windows[i]
	out := Window{Replicas: w.Replicas(), Count: e.countOf(i)}
	if len(w.Days()) == 0 {
		spec := e.Scaler.Spec.Windows[i]
		out.When, out.State = spec.Start+"-"+spec.End+" "+spec.Timezone, LeftOut
		out.Label, out.Why = spec.Name, "left out: this Kyklos does not know its time zone "+spec.Timezone
		return out
	}
	out.Label, out.When = calendar.Label(timecalc.Verdict{Window: i}), w.String()
	v := e.look(i)
	out.State, out.Why = e.judge(i, &v)
	if w.Zone() != nil {
		out.Why += "; it is " + v.at.Format("Mon 15:04") + " there"
	}
	if out.State != Skipped {
		out.Notes = v.irregular()
	}
	return out
}

// judge says what a window does at the instant, and why.
func (e *Explanation) judge(i int, v *view) (WindowState, string) {
	switch {
	case v.covers && e.verdict.Override:
		return Holiday, "covers it by the clock, " + v.stretch() + ", but the holiday decides"
	case v.covers && e.verdict.Window == i:
		return Decides, "decides: covers it " + v.stretch()
	case v.covers:
		return Outranked, fmt.Sprintf("covers it too, %s, but window %d comes later in the list", v.stretch(), e.verdict.Window+1)
	case v.isToday(v.since):
		return Ended, "ended at " + v.moment(v.since) + ", " + ago(v.at.Sub(v.since)) + v.again()
	case v.isToday(v.next):
		text := "not yet: begins at " + v.moment(v.next) + ", " + in(v.next.Sub(v.at))
		if e.verdict.Override {
			text += ", by the clock, but the holiday decides"
		}
		return NotYet, text
	case !slices.Contains(v.window.Days(), v.at.Format("Mon")):
		days, _, _ := strings.Cut(v.window.String(), " ")
		return NotToday, "not today, " + v.at.Weekday().String() + ": begins on " + days + " only" + v.again()
	default:
		return Skipped, "not today: the clock skips all of it" + v.again()
	}
}

// stretch is since when and until when the window covers the instant.
func (v *view) stretch() string {
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
		text += ", across midnight: this is " + v.since.Weekday().String() + "'s window"
	}
	return text
}

// again is when the window begins next, as the end of a sentence.
func (v *view) again() string {
	if v.next.IsZero() {
		return ""
	}
	return "; next " + v.moment(v.next) + ", " + in(v.next.Sub(v.at))
}

// moment is a time on the window's clock: with the day unless it is today, and the date unless it is near.
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

// irregular are the edges of the window that the clock skips or shows twice on the date of the instant, or since the window began.
// A date of 25 hours lies within what is looked through.
func (v *view) irregular() (notes []string) {
	const around = 26 * time.Hour
	names := map[string]string{timecalc.EdgeStart: "start", timecalc.EdgeEnd: "end"}
	for _, edge := range timecalc.IrregularEdges(v.alone.Windows, v.alone.Zone, v.at.Add(-around), v.at.Add(around)) {
		if edge.Date != v.at.Format(time.DateOnly) && (!v.covers || edge.At[0].Before(v.since)) {
			continue
		}
		if edge.Kind == timecalc.Skipped {
			notes = append(notes, fmt.Sprintf("on %s the clock skips %s, its %s, which comes at %s instead",
				edge.Date, edge.Time, names[edge.Edge], edge.At[0].Format("15:04 MST")))
			continue
		}
		notes = append(notes, fmt.Sprintf("on %s the clock shows %s, its %s, twice: at %s and at %s, and it counts both times",
			edge.Date, edge.Time, names[edge.Edge], edge.At[0].Format("15:04 MST"), edge.At[1].Format("15:04 MST")))
	}
	return notes
}
