package output

import (
	"strings"
	"unicode/utf8"
)

// paint is a colour of terminals. Each says nothing that the words do not.
type paint string

const (
	plain  paint = ""
	bold   paint = "\x1b[1m"
	dim    paint = "\x1b[2m"
	up     paint = "\x1b[32m"
	down   paint = "\x1b[36m"
	marked paint = "\x1b[33m"
)

const unpaint = "\x1b[0m"

// in returns text in the colour, if there are colours.
func (p paint) in(text string, options Options) string {
	if !options.Colours || p == plain || text == "" {
		return text
	}
	return string(p) + text + unpaint
}

// row is a line of columns, in one colour.
type row struct {
	cells []string
	paint paint
}

// grid is rows under each other. The columns of right are aligned to the right.
type grid struct {
	rows  []row
	right map[int]bool
}

func (g *grid) add(p paint, cells ...string) { g.rows = append(g.rows, row{cells, p}) }

// text lays the columns out two spaces apart, as wide as they need, each line after an indent. A row of one cell goes over all columns.
func (g *grid) text(indent string, options Options) string {
	var widths []int
	for _, r := range g.rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(r.cells) > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	var text strings.Builder
	for _, r := range g.rows {
		var line strings.Builder
		for i, cell := range r.cells {
			space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if g.right[i] {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
			line.WriteString("  ")
		}
		text.WriteString(strings.TrimRight(indent+r.paint.in(strings.TrimRight(line.String(), " "), options), " ") + "\n")
	}
	return text.String()
}
