package draw

import (
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The fonts of PNGs. SVGs take what the reader's machine has, of about the same width.
var (
	regular = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(goregular.TTF) })
	bold    = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(gobold.TTF) })
)

const (
	// spare is how much wider than the font of PNGs others are; the widest that is usual is DejaVu Sans.
	spare = 1.16
	// space lies between two runs of a text, in pixels.
	space = 5.0
)

// widthOf is how much room runs need on a line, in whatever font: nobody knows which one shows an SVG, so there is room for the
// widest. SVG and PNG share one layout for that reason.
func widthOf(runs ...run) float64 {
	sum := space * float64(max(0, len(runs)-1))
	for _, r := range runs {
		sum += spare * advance(r)
	}
	return sum
}

// advance is the width of a run in the font of PNGs.
func advance(r run) float64 {
	face := faceOf(r.class)
	f, err := fontOf(face)
	if err != nil {
		return face.size * float64(len(r.words)) // wide enough; the fonts are part of the program, and tests read them
	}
	var buffer sfnt.Buffer
	var sum fixed.Int26_6
	for _, character := range r.words {
		if glyph, err := f.GlyphIndex(&buffer, character); err == nil {
			wide, _ := f.GlyphAdvance(&buffer, glyph, fixed.Int26_6(face.size*64), font.HintingNone)
			sum += wide
		}
	}
	return float64(sum) / 64
}

// fontOf is the font in which PNGs have a face.
func fontOf(f face) (*sfnt.Font, error) {
	if f.bold {
		return bold()
	}
	return regular()
}

// clipped shortens a run to the room that there is.
func clipped(r run, room float64) run {
	if widthOf(r) <= room {
		return r
	}
	words := []rune(r.words)
	for len(words) > 0 && widthOf(run{r.class, string(words) + "…"}) > room {
		words = words[:len(words)-1]
	}
	r.words = string(words) + "…"
	return r
}

// wrapped breaks a run into lines between words. A word that is too long for a line is clipped, and so nothing leaves the picture.
func wrapped(r run, room float64) []run {
	var lines []run
	line := ""
	for _, word := range strings.Fields(r.words) {
		if line != "" && widthOf(run{r.class, line + " " + word}) > room {
			lines, line = append(lines, clipped(run{r.class, line}, room)), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, clipped(run{r.class, line}, room))
}
