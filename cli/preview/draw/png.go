package draw

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const (
	scale = 2.0
	// mostPixels keeps a PNG below 256 MiB of memory.
	mostPixels = 64 << 20
)

// errTooLarge names what helps: the other formats have no pixels.
var errTooLarge = errors.New("the picture would be too large for a PNG: ask for fewer scalers or days, or for svg or html")

// writePNG writes a picture, light, as pixels.
func writePNG(w io.Writer, s *scene) error {
	wide, high := int(math.Ceil(s.width*scale)), int(math.Ceil(s.height*scale))
	if wide*high > mostPixels {
		return errTooLarge
	}
	canvas := &canvas{image: image.NewRGBA(image.Rect(0, 0, wide, high)), faces: map[string]font.Face{}}
	for _, f := range faces {
		parsed, err := fontOf(f)
		if err != nil {
			return err
		}
		if canvas.faces[f.class], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * scale, DPI: 72}); err != nil {
			return err
		}
	}
	s.paintOn(canvas)
	return png.Encode(w, canvas.image)
}

// canvas paints in pixels, scale of them for each of the scene's.
type canvas struct {
	image *image.RGBA
	faces map[string]font.Face
}

// stretch is the shapes alone: nothing of a PNG is under a pointer.
func (c *canvas) stretch(s stretch) { paintAll(c, s.shapes) }

// rectangle leaves out what has no colour: it is there for pointers.
func (c *canvas) rectangle(r rectangle) {
	paint := lookup(fills, r.class)
	if paint.light == "" {
		return
	}
	of := colour(paint.light)
	if strings.HasSuffix(r.class, " stub") {
		of.A = 115
	}
	c.fill(of, point{r.x, r.y}, point{r.x + r.width, r.y}, point{r.x + r.width, r.y + r.height}, point{r.x, r.y + r.height})
}

// line paints each piece by itself; the style sheet of SVGs says the same of widths and dashes.
func (c *canvas) line(l line) {
	of, wide := colour(lookup(strokes, l.class).light), 1.0
	if strings.HasSuffix(l.class, " edge") {
		wide = edgeWidth
	}
	for _, path := range l.paths {
		for i := 1; i < len(path); i++ {
			if l.class == "grace" {
				c.dashed(of, wide, path[i-1], path[i])
			} else {
				c.stroke(of, wide, path[i-1], path[i])
			}
		}
	}
}

// dashed draws every other piece of a stroke.
func (c *canvas) dashed(of color.NRGBA, wide float64, a, b point) {
	long := math.Hypot(b.x-a.x, b.y-a.y)
	at := func(d float64) point { return point{a.x + (b.x-a.x)*d/long, a.y + (b.y-a.y)*d/long} }
	for d := 0.0; d < long; d += 2 * dashLength {
		c.stroke(of, wide, at(d), at(min(d+dashLength, long)))
	}
}

// stroke draws from a to b, with square ends if it is upright or level, so that corners close.
func (c *canvas) stroke(of color.NRGBA, wide float64, a, b point) {
	long := math.Hypot(b.x-a.x, b.y-a.y)
	if long == 0 {
		return
	}
	dx, dy := (b.x-a.x)/long*wide/2, (b.y-a.y)/long*wide/2
	if wide == edgeWidth {
		a, b = point{a.x - dx, a.y - dy}, point{b.x + dx, b.y + dy}
	}
	c.fill(of, point{a.x - dy, a.y + dx}, point{b.x - dy, b.y + dx}, point{b.x + dy, b.y - dx}, point{a.x + dy, a.y - dx})
}

// fill paints the polygon through the points. The rasteriser takes only as much room as it needs.
func (c *canvas) fill(of color.NRGBA, points ...point) {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range points {
		left, right = min(left, p.x*scale), max(right, p.x*scale)
		top, bottom = min(top, p.y*scale), max(bottom, p.y*scale)
	}
	box := image.Rect(int(math.Floor(left)), int(math.Floor(top)), int(math.Ceil(right)), int(math.Ceil(bottom)))
	if box.Empty() {
		return
	}
	rasteriser := vector.NewRasterizer(box.Dx(), box.Dy())
	for i, p := range points {
		x, y := float32(p.x*scale-float64(box.Min.X)), float32(p.y*scale-float64(box.Min.Y))
		if i == 0 {
			rasteriser.MoveTo(x, y)
		} else {
			rasteriser.LineTo(x, y)
		}
	}
	rasteriser.ClosePath()
	rasteriser.DrawOp = draw.Over
	rasteriser.Draw(c.image, box, image.NewUniform(of), image.Point{})
}

// text is set by the scene's measures and not by the widths in pixels, so that it stands where the layout has room for it.
func (c *canvas) text(t text) {
	wide := space * float64(len(t.runs)-1)
	for _, r := range t.runs {
		wide += advance(r)
	}
	x := t.x
	switch t.anchor {
	case middle:
		x -= wide / 2
	case end:
		x -= wide
	}
	for _, r := range t.runs {
		drawer := font.Drawer{Dst: c.image, Src: image.NewUniform(colour(faceOf(r.class).light)), Face: c.faces[r.class], Dot: fixed.Point26_6{
			X: fixed.Int26_6(x * scale * 64), Y: fixed.Int26_6(t.y * scale * 64),
		}}
		drawer.DrawString(r.words)
		x += advance(r) + space
	}
}
