package output

import (
	"fmt"
	"io"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// utcStamp is a time in an event's name.
const utcStamp = "20060102T150405Z"

// ICS writes timelines as an iCalendar (RFC 5545): one event for each stretch in which a window, or a holiday that is treated as
// open, decides. Times are in UTC, which every calendar shows on its own clock. The same schedule and stretch give the same bytes, and
// an event keeps its UID however long before or after it a calendar begins or ends.
func ICS(w io.Writer, timelines []*timeline.Timeline, options Options) error {
	calendar := ics.NewCalendar()
	calendar.SetProductId("-//kyklos.io//kyklos preview//EN")
	calendar.SetCalscale("GREGORIAN")
	calendar.SetXWRCalName(calendarName(timelines))
	for _, t := range timelines {
		for _, stretch := range stretches(t) {
			addEvent(calendar, t, stretch, options.zone(t))
		}
	}
	return calendar.SerializeTo(w, ics.WithNewLineWindows)
}

func calendarName(timelines []*timeline.Timeline) string {
	names := make([]string, len(timelines))
	for i, t := range timelines {
		names[i] = t.Scaler.Name
	}
	return "Kyklos: " + strings.Join(names, ", ")
}

// stretches are the segments that are no default, those that one window decides being one.
func stretches(t *timeline.Timeline) (all []timeline.Segment) {
	for _, s := range t.Segments {
		if s.Window == timecalc.LabelOffHours {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].End.Equal(s.Start) && all[last].Window == s.Window {
			all[last].End = s.End
			continue
		}
		all = append(all, s)
	}
	return all
}

func addEvent(calendar *ics.Calendar, t *timeline.Timeline, stretch timeline.Segment, zone *time.Location) {
	scaler, begun := t.Scaler, stretch.Start
	if begun.Equal(t.From) {
		if since := scaler.Calendar.Since(begun); !since.IsZero() {
			begun = since
		}
	}
	event := calendar.AddEvent(fmt.Sprintf("%s.%s.%s.%s@kyklos.io", scaler.Name, scaler.Namespace, stretch.Window, begun.UTC().Format(utcStamp)))
	event.SetDtStampTime(begun) // not the clock's: the same schedule is the same file
	event.SetStartAt(stretch.Start)
	event.SetEndAt(stretch.End)
	event.SetSummary(fmt.Sprintf("%s: %s (%s)", scaler.Name, scaler.Count(stretch.Replicas), stretch.Window))
	event.SetDescription(fmt.Sprintf("%s in the namespace %s has the count %s from %s until %s, %s.", scaler.Target(), scaler.Namespace,
		scaler.Count(stretch.Replicas), stretch.Start.In(zone).Format(timeline.LocalTime), stretch.End.In(zone).Format(timeline.LocalTime), zone))
	event.SetTimeTransparency(ics.TransparencyTransparent) // nobody is busy because of it
}
