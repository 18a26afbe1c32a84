package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// Text writes an explanation for people: the answer, then each window, then what else there is to know, then what comes next. It is
// written at once, so that a writer that fails does not leave half of it.
func Text(w io.Writer, e *Explanation, colours bool) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n%s/%s scales %s, in %s\n", paint(bold, e.Answer, colours),
		e.Scaler.Namespace, e.Scaler.Name, e.Scaler.Target(), e.Scaler.Spec.Timezone)
	if len(e.Windows) > 0 {
		fmt.Fprintf(&out, "\nWindows, of which the last that covers decides:\n")
		e.windowTable(&out, colours)
	}
	if len(e.Facts) > 0 {
		fmt.Fprintln(&out)
	}
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, fact := range e.Facts {
		fmt.Fprintf(table, "  %s\t%s\n", fact.Topic, strings.ReplaceAll(fact.Text, "\n", " "))
	}
	_ = table.Flush() // a Builder takes everything
	e.nextTable(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

// windowTable writes the windows in columns. Colours come last: a column's width counts bytes.
func (e *Explanation) windowTable(out *strings.Builder, colours bool) {
	var columns strings.Builder
	table := tabwriter.NewWriter(&columns, 0, 0, 2, ' ', 0)
	for i, w := range e.Windows {
		label := w.Label
		if timecalc.IsHash(label) {
			label = "-"
		}
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s\t%s\n", i+1, label, w.When, w.Count, w.Why)
	}
	_ = table.Flush() // a Builder takes everything
	for i, line := range strings.Split(strings.TrimSuffix(columns.String(), "\n"), "\n") {
		style := dim
		if e.Windows[i].State == Decides {
			style = green
		}
		fmt.Fprintln(out, paint(style, line, colours))
		for _, note := range e.Windows[i].Notes {
			fmt.Fprintln(out, paint(style, "     "+note, colours))
		}
	}
}

// nextTable writes the next changes of the count.
func (e *Explanation) nextTable(out *strings.Builder) {
	if e.Next == nil {
		return
	}
	if len(e.Next.Transitions) == 0 {
		fmt.Fprintf(out, "\nThe count does not change until %s at least.\n", stamp(e.Until))
		return
	}
	fmt.Fprintf(out, "\nNext changes of the count:\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range e.Next.Transitions {
		fmt.Fprintf(table, "  %s\t%s -> %s\t%s\t%s\n", stamp(t.Time), e.Scaler.Count(t.From), e.Scaler.Count(t.To), in(t.Time.Sub(e.At)), e.why(t))
	}
	_ = table.Flush() // a Builder takes everything
	if len(e.Next.Transitions) < transitionsAhead {
		fmt.Fprintf(out, "  no other until %s\n", stamp(e.Until))
	}
}

// why says in words why the count changes, and what a grace period keeps.
func (e *Explanation) why(t timeline.Transition) string {
	text := e.Next.Why(t)
	if kept := e.Next.GraceWords(t, e.At.Location()); kept != "" {
		text += "; " + kept
	}
	return text
}

// The styles of text on terminals.
const (
	bold  = "1"
	dim   = "2"
	green = "32"
)

// paint leaves the text alone where nobody sees colours, as in a file.
func paint(style, text string, colours bool) string {
	if !colours {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
