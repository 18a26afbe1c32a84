// Package picture draws timelines as SVG, PNG and an HTML page: a strip per scaler with a row per day.
//
// The layout is a scene of rectangles, lines and texts, which is written as SVG or PNG; the page embeds the SVG of each strip.
// The same timelines give the same bytes. No information is in a colour alone: counts and names are next to it.
package picture

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// maxDays is the longest period of a picture: five weeks, so that any month fits.
const maxDays = 35

// SVG writes one picture of all timelines, in the light or dark colours that the reader's browser asks for. Rows and times are
// in zone, or in each schedule's own if it is nil.
func SVG(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
	scene, err := picture(timelines, zone)
	if err != nil {
		return err
	}
	return writeSVG(w, scene)
}

// PNG writes the same picture as SVG, in light colours and twice the size.
func PNG(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
	scene, err := picture(timelines, zone)
	if err != nil {
		return err
	}
	return writePNG(w, scene)
}

// The measures of the picture, in pixels: about the width of a README on GitHub.
const (
	width   = 840.0
	margin  = 16.0
	between = 28.0 // strips
)

// picture lays out all strips, one below the other.
func picture(timelines []*timeline.Timeline, zone *time.Location) (*scene, error) {
	if err := check(timelines); err != nil {
		return nil, err
	}
	whole := &scene{width: width}
	top := margin
	for i, t := range timelines {
		if i > 0 {
			whole.add(through("grid", point{margin, top + between/2}, point{width - margin, top + between/2}))
			top += between
		}
		s := newStrip(t, zone)
		whole.label = strings.TrimSpace(whole.label + " " + s.summary())
		top = s.layOut(whole, top)
	}
	whole.height = top + margin
	return whole, nil
}

func check(timelines []*timeline.Timeline) error {
	if len(timelines) == 0 {
		return errors.New("no TimeWindowScaler to draw")
	}
	for _, t := range timelines {
		if len(t.Segments) == 0 {
			return fmt.Errorf("%s: nothing to draw between %s and %s", t.Scaler.Name, t.From.Format(time.RFC3339), t.Until.Format(time.RFC3339))
		}
		// The days may be those of another zone with a clock change.
		if t.Until.After(t.From.AddDate(0, 0, maxDays).Add(3 * time.Hour)) {
			return fmt.Errorf("a picture shows at most %d days: use fewer, or -o table, json or ics", maxDays)
		}
	}
	return nil
}

// scene is a picture before it is written: shapes in painting order.
type scene struct {
	width, height float64
	label         string // for screen readers
	shapes        []shape
}

func (s *scene) add(shapes ...shape) { s.shapes = append(s.shapes, shapes...) }

func (s *scene) drawOn(p painter) {
	p.rectangle(rectangle{"page", 0, 0, s.width, s.height})
	drawAll(p, s.shapes)
}

type painter interface {
	rectangle(rectangle)
	line(line)
	text(text)
	group(group)
}

// shape is a rectangle, line, text or group. Its class selects its style.
type shape interface{ drawOn(painter) }

func (r rectangle) drawOn(p painter) { p.rectangle(r) }
func (l line) drawOn(p painter)      { p.line(l) }
func (t text) drawOn(p painter)      { p.text(t) }
func (g group) drawOn(p painter)     { p.group(g) }

func drawAll(p painter, shapes []shape) {
	for _, one := range shapes {
		one.drawOn(p)
	}
}

type point struct{ x, y float64 }

type rectangle struct {
	class               string
	x, y, width, height float64
}

type line struct {
	class string
	paths [][]point
}

// text is a line of text that begins, ends or is centred at a point.
type text struct {
	x, y   float64 // the baseline
	anchor anchor
	runs   []run
}

type run struct{ class, text string }

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// group is what the pointer finds as one: the part of a segment in one row.
type group struct {
	tip    *tip
	row    int // of the strip, from 0
	shapes []shape
}

func plain(class string, x, y float64, at anchor, s string) text {
	return text{x: x, y: y, anchor: at, runs: []run{{class, s}}}
}

func through(class string, points ...point) line { return line{class, [][]point{points}} }

// hatch fills a rectangle with diagonals, a step apart.
func hatch(class string, x, y, width, height, step float64) line {
	lines := line{class: class}
	for offset := step / 2; offset < width+height; offset += step {
		from := point{x + max(0, offset-height), y + min(offset, height)}
		to := point{x + min(offset, width), y + max(0, offset-width)}
		lines.paths = append(lines.paths, []point{from, to})
	}
	return lines
}
