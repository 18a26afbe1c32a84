package diff

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Options say how a difference is written.
type Options struct {
	// Days is the length of the timelines, and From their beginning in words.
	Days int
	From string
	// Colours marks what comes and goes, for terminals.
	Colours bool
}

// Text writes the difference for people at a terminal. Schedules that stay as they are are counted only, unless there is a note.
func Text(w io.Writer, d *Difference, options Options) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", d.count(), d.hours(options, "->", "-"))
	for i := range d.Scalers {
		s := &d.Scalers[i]
		if s.Kind == Unchanged && len(s.Notes) == 0 {
			continue
		}
		before, after := s.Seconds()
		fmt.Fprintf(&out, "\n%s: %s, %s; times in %s\n", s.title(), paint(s.Kind, string(s.Kind), options.Colours),
			hours(s, before, after, "->", "-"), s.Now().Scaler.Calendar.Zone)
		for _, remark := range s.remarks("->") {
			fmt.Fprintf(&out, "  %s\n", remark)
		}
		s.table(&out, options.Colours)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// table writes the rows of a scaler in columns. The colour comes last: a column's width counts bytes.
func (s *Scaler) table(out *strings.Builder, colours bool) {
	var columns strings.Builder
	table := tabwriter.NewWriter(&columns, 0, 0, 3, ' ', 0)
	shown := rows(s, "->")
	for _, r := range shown {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", r.what(), r.when("->"), r.replicas(", now "), r.window, r.often())
	}
	_ = table.Flush() // a Builder takes everything
	for i, line := range strings.Split(strings.TrimSuffix(columns.String(), "\n"), "\n") {
		if i < len(shown) {
			fmt.Fprintln(out, paint(shown[i].kind, strings.TrimRight(line, " "), colours))
		}
	}
}

// paint colours what comes green, what goes red, and the rest yellow.
func paint(kind Kind, text string, colours bool) string {
	code, known := map[Kind]string{Added: "32", Removed: "31", Moved: "33", Changed: "33"}[kind]
	if !colours || !known {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// title is the scaler's name, and its former one.
func (s *Scaler) title() string {
	now := s.Now().Scaler
	if s.Renamed() {
		return fmt.Sprintf("%s/%s (was %s)", now.Namespace, now.Name, s.Before.Scaler.Name)
	}
	return now.Namespace + "/" + now.Name
}

// count says how many schedules there are, and what happens to them.
func (d *Difference) count() string {
	counts := make(map[Kind]int)
	for i := range d.Scalers {
		counts[d.Scalers[i].Kind]++
	}
	var parts []string
	for _, kind := range []Kind{Changed, Added, Removed, Unchanged} {
		if counts[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
		}
	}
	switch len(d.Scalers) {
	case 0:
		return "No schedules on either side"
	case 1:
		return "1 schedule: " + string(d.Scalers[0].Kind)
	default:
		return fmt.Sprintf("%d schedules: %s", len(d.Scalers), strings.Join(parts, ", "))
	}
}

// hours says how many replica-hours all schedules make.
func (d *Difference) hours(options Options, arrow, minus string) string {
	days := fmt.Sprintf("%d days", options.Days)
	if options.Days == 1 {
		days = "1 day"
	}
	return fmt.Sprintf("%s, in %s from %s", hoursText(d.Before, d.After, arrow, minus), days, options.From)
}

// hours compares nothing where there is only one side.
func hours(s *Scaler, before, after int64, arrow, minus string) string {
	switch s.Kind {
	case Added:
		return fmt.Sprintf("%.1f replica-hours", float64(after)/3600)
	case Removed:
		return fmt.Sprintf("%.1f replica-hours", float64(before)/3600)
	default:
		return hoursText(before, after, arrow, minus)
	}
}

// hoursText says how many replica-hours there are before and after, and the difference in hours and as a share: of a large
// schedule a few hours say little by themselves. minus is the format's own sign.
func hoursText(before, after int64, arrow, minus string) string {
	was, is := float64(before)/3600, float64(after)/3600
	if before == after {
		return fmt.Sprintf("%.1f replica-hours, as before", is)
	}
	sign, by := "+", is-was
	if by < 0 {
		sign, by = minus, -by
	}
	share := ""
	if before > 0 && by/was >= 0.0005 { // what is not 0.0%
		share = fmt.Sprintf(", %s%.1f%%", sign, by/was*100)
	}
	return fmt.Sprintf("%.1f %s %.1f replica-hours (%s%.1f%s)", was, arrow, is, sign, by, share)
}

// remarks are what there is to say beside the transitions.
func (s *Scaler) remarks(arrow string) (all []string) {
	all = append(all, s.Notes...)
	if s.Kind == Changed && len(s.Steps) == 0 && !s.startsDiffer() {
		all = append(all, "no change of the counts in these days")
	}
	for _, setting := range s.Settings {
		all = append(all, fmt.Sprintf("%s: %s %s %s", setting.Field, setting.Before, arrow, setting.After))
	}
	if len(s.HolidaysAdded) > 0 {
		all = append(all, "holidays added: "+strings.Join(s.HolidaysAdded, ", "))
	}
	if len(s.HolidaysRemoved) > 0 {
		all = append(all, "holidays removed: "+strings.Join(s.HolidaysRemoved, ", "))
	}
	if s.startsDiffer() {
		before, after := s.starts()
		all = append(all, fmt.Sprintf("replicas at the beginning: %d %s %d", *before, arrow, *after))
	}
	return all
}

// startsDiffer is false if there is one side only: then the kind says it all.
func (s *Scaler) startsDiffer() bool {
	before, after := s.starts()
	return before != nil && after != nil && *before != *after
}
