package draw

// scene is a picture before it is written: shapes in the order in which they are painted, in pixels from the upper left corner.
type scene struct {
	width, height float64
	label         string // says it to those who cannot see it
	shapes        []shape
}

func (s *scene) add(shapes ...shape) { s.shapes = append(s.shapes, shapes...) }

// paintOn paints the scene on a ground of its own.
func (s *scene) paintOn(p painter) {
	p.rectangle(rectangle{"page", 0, 0, s.width, s.height})
	paintAll(p, s.shapes)
}

// painter is a way to write a scene. What it paints later covers what it painted earlier.
type painter interface {
	rectangle(rectangle)
	line(line)
	text(text)
	stretch(stretch)
}

// shape is a rectangle, a line, a text or a stretch. Its class says how it is painted, see theme.
type shape interface{ paintOn(painter) }

func (r rectangle) paintOn(p painter) { p.rectangle(r) }
func (l line) paintOn(p painter)      { p.line(l) }
func (t text) paintOn(p painter)      { p.text(t) }
func (s stretch) paintOn(p painter)   { p.stretch(s) }

// paintAll paints shapes in their order.
func paintAll(p painter, shapes []shape) {
	for _, one := range shapes {
		one.paintOn(p)
	}
}

// point is in pixels from the upper left corner of the scene.
type point struct{ x, y float64 }

// rectangle is filled.
type rectangle struct {
	class               string
	x, y, width, height float64
}

// line goes through the points of each of its paths and is not filled.
type line struct {
	class string
	paths [][]point
}

// text is one line of words. Its first point is where it begins, ends or has its middle, as anchor says.
type text struct {
	x, y   float64 // the baseline
	anchor anchor
	runs   []run
}

// run is a part of a text with one look, and a space before it if it is not the first.
type run struct{ class, words string }

// anchor has the words of SVG's text-anchor.
type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// stretch is what belongs together under the pointer: the part of a segment that lies in one row.
type stretch struct {
	tip    *tip
	row    int // counts rows of the strip from 0
	shapes []shape
}

// words is a text of one look.
func words(class string, x, y float64, at anchor, s string) text {
	return text{x: x, y: y, anchor: at, runs: []run{{class, s}}}
}

// through is a line through points.
func through(class string, points ...point) line { return line{class, [][]point{points}} }

// hatch are diagonals within a rectangle, a step apart.
func hatch(class string, x, y, width, height, step float64) line {
	lines := line{class: class}
	for offset := step / 2; offset < width+height; offset += step {
		// From the lower left to the upper right: all of it is offset away from the corner, right and down together.
		from := point{x + max(0, offset-height), y + min(offset, height)}
		to := point{x + min(offset, width), y + max(0, offset-width)}
		lines.paths = append(lines.paths, []point{from, to})
	}
	return lines
}
