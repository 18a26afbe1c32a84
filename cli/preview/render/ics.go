package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// ICS writes timelines as an iCalendar (RFC 5545): one event for each period in which a window, or an open holiday, decides.
// Times are in UTC. The same timeline gives the same bytes, and an event keeps its UID whatever period is asked for.
func ICS(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
	calendar := ics.NewCalendar()
	calendar.SetProductId("-//kyklos.io//kyklos preview//EN")
	calendar.SetCalscale("GREGORIAN")
	var names []string
	for _, t := range timelines {
		names = append(names, t.Scaler.Name)
		for _, period := range periods(t) {
			addEvent(calendar, t, period, cmp.Or(zone, t.Scaler.Calendar.Zone))
		}
	}
	calendar.SetXWRCalName("Kyklos: " + strings.Join(names, ", "))
	return calendar.SerializeTo(w, ics.WithNewLineWindows)
}

// periods are the segments without the default, neighbours of the same window joined.
func periods(t *timeline.Timeline) (all []timeline.Segment) {
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

func addEvent(calendar *ics.Calendar, t *timeline.Timeline, period timeline.Segment, zone *time.Location) {
	scaler, start := t.Scaler, period.Start
	if start.Equal(t.From) {
		if since := scaler.Calendar.Since(start); !since.IsZero() {
			start = since
		}
	}
	event := calendar.AddEvent(fmt.Sprintf("%s.%s.%s.%s@kyklos.io", scaler.Name, scaler.Namespace, period.Window, start.UTC().Format("20060102T150405Z")))
	event.SetDtStampTime(start) // and not now: the same timeline gives the same file
	event.SetStartAt(period.Start)
	event.SetEndAt(period.End)
	event.SetSummary(fmt.Sprintf("%s: %s (%s)", scaler.Name, scaler.Count(period.Replicas), period.Window))
	event.SetDescription(fmt.Sprintf("%s in namespace %s: %s from %s until %s, %s.", scaler.Target(), scaler.Namespace,
		scaler.Count(period.Replicas), period.Start.In(zone).Format(timeline.LocalTime), period.End.In(zone).Format(timeline.LocalTime), zone))
	event.SetTimeTransparency(ics.TransparencyTransparent) // does not make anybody busy
}
