package picture

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
	// maxPixels limits a PNG to 256 MiB of memory.
	maxPixels = 64 << 20
)

var errTooLarge = errors.New("the picture is too large for a PNG: use fewer schedules or days, or -o svg or html")

func writePNG(w io.Writer, s *scene) error {
	wide, high := int(math.Ceil(s.width*scale)), int(math.Ceil(s.height*scale))
	if wide*high > maxPixels {
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
	s.drawOn(canvas)
	return png.Encode(w, canvas.image)
}

// canvas paints pixels, at scale times the scene's measures.
type canvas struct {
	image *image.RGBA
	faces map[string]font.Face
}

func (c *canvas) group(g group) { drawAll(c, g.shapes) }

// rectangle leaves out rectangles without a colour, which are for the pointer.
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

func (c *canvas) dashed(of color.NRGBA, wide float64, a, b point) {
	long := math.Hypot(b.x-a.x, b.y-a.y)
	at := func(d float64) point { return point{a.x + (b.x-a.x)*d/long, a.y + (b.y-a.y)*d/long} }
	for d := 0.0; d < long; d += 2 * dashLength {
		c.stroke(of, wide, at(d), at(min(d+dashLength, long)))
	}
}

// stroke draws from a to b, with square ends for outlines, so that corners close.
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

// fill paints a polygon. The rasteriser covers only its bounding box.
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

// text is placed by the scene's measures, where the layout has room for it.
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
		drawer.DrawString(r.text)
		x += advance(r) + space
	}
}
