package diff

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the difference for a comment on a pull request: a line that says all, and for each schedule that changes a table
// that is folded away.
func Markdown(w io.Writer, d *Difference, options Options) error {
	var out strings.Builder
	headline := "**" + d.count() + "**"
	if d.Empty() && len(d.Scalers) > 0 {
		headline = "**No schedule changes what it does**"
	}
	fmt.Fprintf(&out, "%s: %s\n", headline, d.hours(options, "→", "−"))
	for i := range d.Scalers {
		if s := &d.Scalers[i]; s.Kind != Unchanged || len(s.Notes) > 0 {
			s.details(&out)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// details are HTML with Markdown in them. The empty lines are needed: behind one, Markdown is read again.
func (s *Scaler) details(out *strings.Builder) {
	before, after := s.Seconds()
	fmt.Fprintf(out, "\n<details>\n<summary><code>%s</code>: %s, %s</summary>\n\n", escape(s.title()), s.Kind, hours(s, before, after, "→", "−"))
	for _, remark := range s.remarks("→") {
		fmt.Fprintf(out, "- %s\n", escape(remark))
	}
	shown := rows(s, "→")
	if len(shown) > 0 {
		if len(s.remarks("→")) > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "| Change | When (%s) | Replicas | Window | How often |\n|---|---|---|---|---|\n", escape(s.Now().Scaler.Calendar.Zone.String()))
	}
	for _, r := range shown {
		cells := []string{r.what(), r.when("→"), r.replicas(", now "), r.window, r.often()}
		for i := range cells {
			cells[i] = escape(cells[i])
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprint(out, "\n</details>\n")
}

// escape keeps Markdown and HTML from reading anything into a text: names come from files that nobody has checked yet. Numbers of
// characters do that in a table, in a list and in a <summary> alike; a backslash does it in Markdown alone.
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
