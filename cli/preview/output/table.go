package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// Table writes timelines for people: for each schedule what it is, when its count changes and why, its replica-hours day by day,
// and what they save.
func Table(w io.Writer, timelines []*timeline.Timeline, options Options) error {
	out := bufio.NewWriter(w)
	for i, t := range timelines {
		if i > 0 {
			fmt.Fprintln(out)
		}
		zone := options.zone(t)
		head(out, t, zone, options)
		fmt.Fprintln(out)
		fmt.Fprint(out, rows(t, zone, options))
		fmt.Fprintln(out)
		fmt.Fprint(out, weeks(t, options))
		fmt.Fprintln(out, "  "+bold.in(totals(t.Seconds, t.AlwaysHighest(), fmt.Sprintf("%d all the time", t.Highest)), options))
		if notes := t.Scaler.Notes(zone); len(notes) > 0 {
			fmt.Fprintln(out)
			for _, note := range notes {
				fmt.Fprintln(out, "  Note: "+note)
			}
		}
	}
	if len(timelines) > 1 {
		fmt.Fprintln(out, "\n"+bold.in(all(timelines), options))
	}
	return out.Flush()
}

// head says what the schedule is: its target, its stretch, its windows and what holidays do.
func head(out io.Writer, t *timeline.Timeline, zone *time.Location, options Options) {
	s := t.Scaler
	fmt.Fprintln(out, bold.in(fmt.Sprintf("%s/%s scales %s", s.Namespace, s.Name, s.Target()), options))
	fmt.Fprintf(out, "  %s until %s, %s\n\n", stamp(t.From.In(zone)), stamp(t.Until.In(zone)), zone)
	windows := grid{right: map[int]bool{1: true}}
	for _, w := range s.Windows() {
		windows.add(plain, w.Label, s.Count(w.Replicas), w.When)
	}
	if words := s.HolidayWords(); words != "" {
		windows.add(plain, "holidays", "", words)
	}
	if home := s.Calendar.Zone; zone.String() != home.String() {
		windows.add(plain, "timezone", "", home.String())
	}
	fmt.Fprint(out, windows.text("  ", options))
}

// rows are the changes of the count, and those of the clocks among them.
func rows(t *timeline.Timeline, zone *time.Location, options Options) string {
	if len(t.Segments) == 0 {
		return ""
	}
	table, next := grid{}, t.Transitions
	table.add(dim, "LOCAL TIME", "UTC", "COUNT", "WINDOW", "WHY")
	line := func(p paint, at time.Time, count, window, why string) {
		table.add(p, stamp(at.In(zone)), utcText(at), count, window, why)
	}
	width := countWidth(t)
	count := func(replicas int32) string { return fmt.Sprintf("%*s", width, t.Scaler.Count(replicas)) }
	line(plain, t.From, count(t.Segments[0].Replicas), t.Segments[0].Window, "at the start")
	changes := append(slices.Clone(t.Changes), t.Abroad...)
	slices.SortStableFunc(changes, func(a, b timeline.Change) int { return a.Time.Compare(b.Time) })
	for len(next) > 0 || len(changes) > 0 {
		if len(next) == 0 || len(changes) > 0 && !changes[0].Time.After(next[0].Time) {
			change := changes[0]
			changes = changes[1:]
			if len(next) == 0 || next[0].Reason != timeline.ClockChange || !next[0].Time.Equal(change.Time) { // else it says so itself
				line(marked, change.Time, "", "", "* "+t.ClockWords(change))
			}
			continue
		}
		tr := next[0]
		next = next[1:]
		line(colourOf(tr), tr.Time, count(tr.From)+" -> "+t.Scaler.Count(tr.To), tr.Window, why(t, tr, zone))
	}
	if len(t.Transitions) == 0 {
		table.add(plain, "The count does not change.")
	}
	return table.text("  ", options)
}

// countWidth is how wide the widest count of a timeline is.
func countWidth(t *timeline.Timeline) (width int) {
	for _, s := range t.Segments {
		width = max(width, len(t.Scaler.Count(s.Replicas)))
	}
	return width
}

func colourOf(tr timeline.Transition) paint {
	switch {
	case tr.Reason == timeline.ClockChange:
		return marked
	case tr.To < tr.From:
		return down
	default:
		return up
	}
}

// why is the reason of a transition, and until when a grace period keeps the higher count.
func why(t *timeline.Timeline, tr timeline.Transition, zone *time.Location) string {
	text := t.Why(tr)
	if tr.Reason == timeline.ClockChange {
		text = "* " + text
	}
	if kept := t.GraceWords(tr, zone); kept != "" {
		text += "; " + kept
	}
	return text
}

// stamp is a local time with its weekday and offset, with seconds only if it has any.
func stamp(local time.Time) string {
	if local.Second() != 0 {
		return local.Format("Mon 2006-01-02 15:04:05 -07:00")
	}
	return local.Format(timeline.LocalTime)
}

func utcText(at time.Time) string {
	if at.Second() != 0 {
		return at.UTC().Format("2006-01-02 15:04:05Z")
	}
	return at.UTC().Format("2006-01-02 15:04Z")
}

// weeks is the calendar of replica-hours: a line for each week from Monday, a cell for each day.
func weeks(t *timeline.Timeline, options Options) string {
	table := grid{right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}}
	table.add(dim, "REPLICA-HOURS", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "WEEK")
	for rest := t.Days; len(rest) > 0; {
		monday, week := mondayOf(rest[0].Date), 0
		for week < len(rest) && mondayOf(rest[week].Date) == monday {
			week++
		}
		table.add(plain, cells(monday, rest[:week])...)
		rest = rest[week:]
	}
	text := table.text("  ", options)
	if slices.ContainsFunc(t.Days, func(d timeline.Day) bool { return d.Holiday }) {
		text += "  h: a holiday\n"
	}
	if len(t.Changes) > 0 {
		text += "  *: the clock changes on this day\n"
	}
	return text
}

// cells are the days of one week. What comes twice, as a date that a clock change brings back, is added up.
func cells(monday string, days []timeline.Day) []string {
	var sums [7]int64
	var there [7]bool
	var marks [7]string
	whole := int64(0)
	for _, d := range days {
		date, _ := time.Parse(time.DateOnly, d.Date)
		i := (int(date.Weekday()) + 6) % 7
		sums[i] += d.Seconds
		whole += d.Seconds
		there[i] = true
		marks[i] = ""
		if d.Holiday {
			marks[i] += "h"
		}
		if d.Change != nil {
			marks[i] += "*"
		}
	}
	line := []string{monday}
	for i, sum := range sums {
		text := "."
		if there[i] {
			text = marks[i] + rounded(sum)
		}
		line = append(line, text)
	}
	return append(line, rounded(whole))
}

// mondayOf is the date of the Monday of a date's week.
func mondayOf(text string) string {
	date, _ := time.Parse(time.DateOnly, text)
	return date.AddDate(0, 0, -(int(date.Weekday())+6)%7).Format(time.DateOnly)
}

// totals says what some replica-hours save against those of the highest count.
func totals(sum, always int64, highest string) string {
	text := fmt.Sprintf("%s replica-hours in all; %s would be %s", rounded(sum), highest, rounded(always))
	if always > sum {
		text += fmt.Sprintf(": saves %s, %.0f %%", rounded(always-sum), 100*float64(always-sum)/float64(always))
	}
	return text + "."
}

func all(timelines []*timeline.Timeline) string {
	var sum, always int64
	for _, t := range timelines {
		sum += t.Seconds
		always += t.AlwaysHighest()
	}
	return fmt.Sprintf("All %d schedules: %s", len(timelines), totals(sum, always, "each at its highest all the time"))
}

// rounded are replica-hours to two decimals, without zeros at the end.
func rounded(seconds int64) string {
	return strconv.FormatFloat(math.Round(hours(seconds)*100)/100, 'f', -1, 64)
}
