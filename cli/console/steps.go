package console

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

const (
	barWidth = 20
	// defaultWidth is that of a terminal that does not tell its width.
	defaultWidth = 80
	// erase empties the line of a terminal.
	erase = "\r\x1b[K"
)

// Steps shows what is being done step by step: on a terminal in one line, with a bar and the time that a step has taken; elsewhere by a
// line for each change.
type Steps struct {
	w     io.Writer
	clock clock.PassiveClock
	// width is that of the terminal; 0 if it is none.
	width int

	step, text, why string
	since           time.Time
}

// NewSteps shows steps on w.
func NewSteps(w io.Writer, timer clock.PassiveClock) *Steps {
	s := &Steps{w: w, clock: timer}
	if IsTerminal(w) {
		s.width = defaultWidth
		if columns, _, err := term.GetSize(int(w.(interface{ Fd() uintptr }).Fd())); err == nil && columns > 0 {
			s.width = columns
		}
	}
	return s
}

// Show shows a step, how far it is in percent, 0 if that is not known, a text about that, and why it does not get on, "" if it does. The
// reason may be long and has what to do, so it is a line of its own, in full, whenever it changes.
func (s *Steps) Show(step string, percent int, text, why string) {
	changed := step != s.step || text != s.text
	if step != s.step {
		s.end()
		s.since = s.clock.Now()
	}
	told := why == "" || why == s.why
	s.step, s.text, s.why = step, text, why
	if s.width > 0 {
		if !told {
			fmt.Fprintf(s.w, "%s%s\n", erase, why)
		}
		// The last column stays free: some terminals begin a new line after it.
		fmt.Fprint(s.w, erase+shortened(s.line(percent), s.width-1))
		return
	}
	switch {
	case changed && text != "":
		fmt.Fprintf(s.w, "%s: %s\n", step, text)
	case changed:
		fmt.Fprintln(s.w, step)
	}
	if !told {
		fmt.Fprintln(s.w, why)
	}
}

// Done ends the last step.
func (s *Steps) Done() {
	s.end()
	s.step, s.text, s.why = "", "", ""
}

// end leaves the line of a step behind on a terminal, with how long it took.
func (s *Steps) end() {
	if s.width > 0 && s.step != "" {
		fmt.Fprintf(s.w, "%s%s %s\n", erase, s.step, s.elapsed())
	}
}

func (s *Steps) elapsed() time.Duration { return s.clock.Since(s.since).Truncate(time.Second) }

func (s *Steps) line(percent int) string {
	bar := ""
	if percent > 0 {
		full := min(percent, 100) * barWidth / 100
		bar = fmt.Sprintf(" [%s%s] %d %%", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), percent)
	}
	line := fmt.Sprintf("%s%s %s", s.step, bar, s.elapsed())
	if s.text != "" {
		line += "  " + s.text
	}
	return line
}

// shortened is a text in at most so many columns.
func shortened(text string, columns int) string {
	const dots = "..."
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:max(columns-len(dots), 0)]) + dots
}
