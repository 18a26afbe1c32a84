package diff

import (
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// Options say how a difference is written.
type Options struct {
	// Days is the length of the timelines, and From their start for people.
	Days    int
	From    string
	Colours bool
}

// style is the arrow between two values and the minus sign of a format.
type style struct{ arrow, minus string }

var (
	plain = style{"->", "-"}
	typed = style{"→", "−"}
)

// Text writes the difference for terminals. Unchanged schedules are only counted, unless they have notes.
func Text(w io.Writer, d *Difference, options Options) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", d.count(), d.hours(options, plain))
	for i := range d.Scalers {
		s := &d.Scalers[i]
		if s.Kind == Unchanged && len(s.Notes) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s: %s, %s; times in %s\n", s.title(), colourOf(s.Kind).Paint(string(s.Kind), options.Colours),
			s.hours(plain), s.Now().Scaler.Calendar.Zone)
		for _, remark := range s.remarks(plain.arrow) {
			fmt.Fprintf(&out, "  %s\n", remark)
		}
		table := console.Table{Gap: 3}
		for _, r := range rows(s, plain.arrow) {
			table.Add(colourOf(r.kind), r.cells(plain.arrow)...)
		}
		out.WriteString(table.String(options.Colours))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func colourOf(kind Kind) console.Style {
	return map[Kind]console.Style{Added: console.Green, Removed: console.Red, Moved: console.Yellow, Changed: console.Yellow}[kind]
}

// Markdown writes the difference for a comment on a pull request: a summary, and a collapsed table for each schedule that changes.
func Markdown(w io.Writer, d *Difference, options Options) error {
	var out strings.Builder
	headline := d.count()
	if d.Empty() && len(d.Scalers) > 0 {
		headline = "No schedule changes its behaviour"
	}
	fmt.Fprintf(&out, "**%s**: %s\n", headline, d.hours(options, typed))
	for i := range d.Scalers {
		if s := &d.Scalers[i]; s.Kind != Unchanged || len(s.Notes) > 0 {
			s.details(&out)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// details is Markdown within HTML, which needs the empty lines.
func (s *Scaler) details(out *strings.Builder) {
	fmt.Fprintf(out, "\n<details>\n<summary><code>%s</code>: %s, %s</summary>\n\n", escape(s.title()), s.Kind, s.hours(typed))
	remarks, shown := s.remarks(typed.arrow), rows(s, typed.arrow)
	for _, remark := range remarks {
		fmt.Fprintf(out, "- %s\n", escape(remark))
	}
	if len(shown) > 0 {
		if len(remarks) > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "| Change | When (%s) | Replicas | Window | How often |\n|---|---|---|---|---|\n", escape(s.Now().Scaler.Calendar.Zone.String()))
	}
	for _, r := range shown {
		cells := r.cells(typed.arrow)
		for i := range cells {
			cells[i] = escape(cells[i])
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprint(out, "\n</details>\n")
}

// escape protects text from Markdown and HTML: names come from files that have not been validated. Character references work in
// tables, lists and <summary> alike; backslashes work in Markdown only.
func escape(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch {
		case c == '\n' || c == '\r':
			out.WriteByte(' ')
		case c < 128 && strings.ContainsRune("\\`*_{}[]<>#!|~&@\"'$^=", c):
			fmt.Fprintf(&out, "&#%d;", c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// title is the scaler's name, and its former one.
func (s *Scaler) title() string {
	now := s.Now().Scaler
	title := now.Namespace + "/" + now.Name
	if s.Renamed() {
		title += fmt.Sprintf(" (was %s)", s.Before.Scaler.Name)
	}
	return title
}

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

func (d *Difference) hours(options Options, style style) string {
	days := fmt.Sprintf("%d days", options.Days)
	if options.Days == 1 {
		days = "1 day"
	}
	return fmt.Sprintf("%s, in %s from %s", hoursText(d.Before, d.After, style), days, options.From)
}

// hours is the replica-hours of the schedule, compared if it is on both sides.
func (s *Scaler) hours(style style) string {
	before, after := s.Seconds()
	if s.Kind == Added || s.Kind == Removed {
		return fmt.Sprintf("%.1f replica-hours", timeline.Hours(before+after))
	}
	return hoursText(before, after, style)
}

// hoursText compares replica-hours, with the difference in hours and in percent.
func hoursText(before, after int64, style style) string {
	was, is := timeline.Hours(before), timeline.Hours(after)
	if before == after {
		return fmt.Sprintf("%.1f replica-hours, as before", is)
	}
	sign, by := "+", is-was
	if by < 0 {
		sign, by = style.minus, -by
	}
	share := ""
	if before > 0 && by/was >= 0.0005 { // not 0.0%
		share = fmt.Sprintf(", %s%.1f%%", sign, by/was*100)
	}
	return fmt.Sprintf("%.1f %s %.1f replica-hours (%s%.1f%s)", was, style.arrow, is, sign, by, share)
}

func (s *Scaler) remarks(arrow string) (all []string) {
	all = append(all, s.Notes...)
	if s.Kind == Changed && len(s.Steps) == 0 && !s.startsDiffer() {
		all = append(all, "no change of the count in this period")
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
		all = append(all, fmt.Sprintf("replicas at the start: %d %s %d", *before, arrow, *after))
	}
	return all
}
