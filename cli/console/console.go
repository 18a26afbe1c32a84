// Package console prints for people: styles, tables and progress on terminals.
package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

// IsTerminal reports whether w is a terminal that supports control sequences.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// Colours reports whether w gets colours: terminals do, unless NO_COLOR is set (no-color.org).
func Colours(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == ""
}

// Style is a graphic rendition of terminals. A style never carries information of its own.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint returns text in the style, or unchanged without colours.
func (s Style) Paint(text string, colours bool) string {
	if !colours || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Table aligns columns. The zero value is ready to use.
type Table struct {
	// Gap is the number of spaces between columns; 0 means 2.
	Gap int
	// Right are the columns that are aligned to the right.
	Right map[int]bool
	rows  []row
}

type row struct {
	style Style
	cells []string
}

// Add appends a row. A row with a single cell spans all columns.
func (t *Table) Add(style Style, cells ...string) { t.rows = append(t.rows, row{style, cells}) }

// String lays out the table, indented by two spaces. text/tabwriter can neither align single columns to the right nor
// ignore colours.
func (t *Table) String(colours bool) string {
	var widths []int
	for _, r := range t.rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(r.cells) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	gap := strings.Repeat(" ", max(t.Gap, 2))
	var out strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		for i, cell := range r.cells {
			padding := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if t.Right[i] {
				cell, padding = padding+cell, ""
			}
			line.WriteString(cell + padding + gap)
		}
		fmt.Fprintln(&out, strings.TrimRight("  "+r.style.Paint(strings.TrimRight(line.String(), " "), colours), " "))
	}
	return out.String()
}

// progressDelay is how long a command works before it reports progress.
const progressDelay = time.Second

// Progress prints what a command is doing, such as "Reading the cluster ...", if it takes longer than a second and w is a
// terminal. stop erases the line; call it before writing anything else.
func Progress(ctx context.Context, w io.Writer, what string) (stop func()) {
	if !IsTerminal(w) {
		return func() {}
	}
	return progressOn(ctx, clock.RealClock{}, w, what)
}

func progressOn(ctx context.Context, timers clock.Clock, w io.Writer, what string) (stop func()) {
	const erase = "\r\x1b[K"
	ctx, cancel := context.WithCancel(ctx)
	timer, done := timers.NewTimer(progressDelay), make(chan struct{})
	go func() {
		defer close(done)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		fmt.Fprint(w, what)
		<-ctx.Done()
		fmt.Fprint(w, erase)
	}()
	return func() {
		cancel()
		<-done
	}
}
