package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// Table writes timelines for people: what each schedule is, when its count changes and why, its replica-hours per day, and
// the savings. Local times are shown in zone, or in each schedule's own if it is nil; days are always the schedule's.
func Table(w io.Writer, timelines []*timeline.Timeline, zone *time.Location, colours bool) error {
	out := bufio.NewWriter(w)
	bold := func(text string) string { return console.Bold.Paint(text, colours) }
	var sum, always int64
	for i, t := range timelines {
		if i > 0 {
			fmt.Fprintln(out)
		}
		s, shown := t.Scaler, cmp.Or(zone, t.Scaler.Calendar.Zone)
		fmt.Fprintln(out, bold(fmt.Sprintf("%s/%s scales %s", s.Namespace, s.Name, s.Target())))
		fmt.Fprintf(out, "  %s until %s, %s\n\n", stamp(t.From.In(shown)), stamp(t.Until.In(shown)), shown)
		fmt.Fprintf(out, "%s\n%s\n%s", windows(s, shown), changes(t, shown).String(colours), weeks(t, colours))
		fmt.Fprintln(out, "  "+bold(totals(t.Seconds, t.AlwaysHighest(), fmt.Sprintf("%d all the time", t.Highest))))
		for i, note := range s.Notes(shown) {
			if i == 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintln(out, "  Note: "+note)
		}
		sum, always = sum+t.Seconds, always+t.AlwaysHighest()
	}
	if len(timelines) > 1 {
		fmt.Fprintln(out, "\n"+bold(fmt.Sprintf("All %d schedules: %s", len(timelines), totals(sum, always, "each at its highest count all the time"))))
	}
	return out.Flush()
}

// windows lists the windows, and what holidays do.
func windows(s *timeline.Scaler, zone *time.Location) string {
	table := console.Table{Right: map[int]bool{1: true}}
	for _, w := range s.Windows() {
		table.Add(console.Plain, w.Label, s.Count(w.Replicas), w.When)
	}
	if holidays := s.HolidayText(); holidays != "" {
		table.Add(console.Plain, "holidays", "", holidays)
	}
	if own := s.Calendar.Zone; zone.String() != own.String() {
		table.Add(console.Plain, "timezone", "", own.String())
	}
	return table.String(false)
}

// changes are the changes of the count and of the clocks, by time.
func changes(t *timeline.Timeline, zone *time.Location) *console.Table {
	table := &console.Table{}
	if len(t.Segments) == 0 {
		return table
	}
	width := 0
	for _, s := range t.Segments {
		width = max(width, len(t.Scaler.Count(s.Replicas)))
	}
	count := func(replicas int32) string { return fmt.Sprintf("%*s", width, t.Scaler.Count(replicas)) }
	line := func(style console.Style, at time.Time, count, window, why string) {
		table.Add(style, stamp(at.In(zone)), withSeconds(at.UTC(), "2006-01-02 15:04Z", "2006-01-02 15:04:05Z"), count, window, why)
	}
	table.Add(console.Dim, "LOCAL TIME", "UTC", "COUNT", "WINDOW", "WHY")
	line(console.Plain, t.From, count(t.Segments[0].Replicas), t.Segments[0].Window, "at the start")
	next := t.Transitions
	clocks := append(slices.Clone(t.Changes), t.Abroad...)
	slices.SortStableFunc(clocks, func(a, b timeline.Change) int { return a.Time.Compare(b.Time) })
	for len(next) > 0 || len(clocks) > 0 {
		if len(next) == 0 || len(clocks) > 0 && !clocks[0].Time.After(next[0].Time) {
			change := clocks[0]
			clocks = clocks[1:]
			if len(next) == 0 || next[0].Reason != timeline.ClockChange || !next[0].Time.Equal(change.Time) { // else its own line names the change
				line(console.Yellow, change.Time, "", "", "* "+t.ClockText(change))
			}
			continue
		}
		tr := next[0]
		next = next[1:]
		style, why := console.Green, t.WhyWithGrace(tr, zone)
		switch {
		case tr.Reason == timeline.ClockChange:
			style, why = console.Yellow, "* "+why
		case tr.To < tr.From:
			style = console.Cyan
		}
		line(style, tr.Time, count(tr.From)+" -> "+t.Scaler.Count(tr.To), tr.Window, why)
	}
	if len(t.Transitions) == 0 {
		table.Add(console.Plain, "The count does not change.")
	}
	return table
}

func stamp(local time.Time) string {
	return withSeconds(local, timeline.LocalTime, "Mon 2006-01-02 15:04:05 -07:00")
}

// withSeconds formats a time, with seconds only if it has any.
func withSeconds(at time.Time, minutes, seconds string) string {
	if at.Second() != 0 {
		return at.Format(seconds)
	}
	return at.Format(minutes)
}

// weeks is the calendar of replica-hours: a line per week from Monday, a cell per day.
func weeks(t *timeline.Timeline, colours bool) string {
	table := console.Table{Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}}
	table.Add(console.Dim, "REPLICA-HOURS", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "WEEK")
	for rest := t.Days; len(rest) > 0; {
		monday, week := mondayOf(rest[0].Date), 0
		for week < len(rest) && mondayOf(rest[week].Date) == monday {
			week++
		}
		table.Add(console.Plain, cells(monday, rest[:week])...)
		rest = rest[week:]
	}
	text := table.String(colours)
	if slices.ContainsFunc(t.Days, func(d timeline.Day) bool { return d.Holiday }) {
		text += "  h: holiday\n"
	}
	if len(t.Changes) > 0 {
		text += "  *: the clock changes on this day\n"
	}
	return text
}

// cells are the days of one week. A date that a clock change repeats is added up.
func cells(monday string, days []timeline.Day) []string {
	var sums [7]int64
	var marks [7]string
	line := []string{monday, ".", ".", ".", ".", ".", ".", "."}
	week := int64(0)
	for _, d := range days {
		date, _ := time.Parse(time.DateOnly, d.Date)
		i := (int(date.Weekday()) + 6) % 7
		sums[i] += d.Seconds
		week += d.Seconds
		marks[i] = ""
		if d.Holiday {
			marks[i] += "h"
		}
		if d.Change != nil {
			marks[i] += "*"
		}
		line[i+1] = marks[i] + rounded(sums[i])
	}
	return append(line, rounded(week))
}

func mondayOf(text string) string {
	date, _ := time.Parse(time.DateOnly, text)
	return date.AddDate(0, 0, -(int(date.Weekday())+6)%7).Format(time.DateOnly)
}

// totals compares replica-hours with those of the highest count.
func totals(sum, always int64, highest string) string {
	text := fmt.Sprintf("%s replica-hours in total; %s would be %s", rounded(sum), highest, rounded(always))
	if always > sum {
		text += fmt.Sprintf(": saves %s (%.0f%%)", rounded(always-sum), 100*float64(always-sum)/float64(always))
	}
	return text + "."
}

func rounded(seconds int64) string {
	return strconv.FormatFloat(math.Round(timeline.Hours(seconds)*100)/100, 'f', -1, 64)
}
