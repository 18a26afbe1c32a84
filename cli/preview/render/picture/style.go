package picture

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// colours is the number of window colours: the palette of Okabe and Ito (Color Universal Design, 2008), which is safe for the
// common kinds of colour blindness.
const colours = 7

type paint struct{ class, light, dark string }

var fills = []paint{
	{"page", "#ffffff", "#0d1117"},
	{"band", "#f6f8fa", "#151b23"},
	{"holiday", "#e4def5", "#332a4d"},
	{"off", "#b4bec8", "#59636e"},
	{"open", "#333b44", "#c9d1d9"},
	{"w0", "#0072b2", "#0072b2"}, // blue
	{"w1", "#e69f00", "#e69f00"}, // orange
	{"w2", "#009e73", "#009e73"}, // bluish green
	{"w3", "#cc79a7", "#cc79a7"}, // reddish purple
	{"w4", "#56b4e9", "#56b4e9"}, // sky blue
	{"w5", "#d55e00", "#d55e00"}, // vermillion
	{"w6", "#f0e442", "#f0e442"}, // yellow
}

// The colours of lines: the hue of the fill, stronger where it would not stand out from the page.
var strokes = []paint{
	{"grid", "#d1d9e0", "#3d444d"},
	{"base", "#6e7781", "#818b98"},
	{"skip", "#6e7781", "#818b98"},
	{"grace", "#59636e", "#9198a1"},
	{"texture", "#ffffff", "#0d1117"},
	{"off", "#6e7781", "#9198a1"},
	{"open", "#1f2328", "#f0f6fc"},
	{"w0", "#005a8d", "#4aa3d8"},
	{"w1", "#9a6700", "#ffc34d"},
	{"w2", "#00795a", "#35c79c"},
	{"w3", "#a34f7f", "#e6a5c8"},
	{"w4", "#2480b8", "#93d2f7"},
	{"w5", "#a84a00", "#ff8c3b"},
	{"w6", "#857c00", "#fff59a"},
}

type face struct {
	class       string
	size        float64 // pixels
	bold        bool
	light, dark string
}

const (
	ink, inkDark     = "#1f2328", "#f0f6fc"
	muted, mutedDark = "#59636e", "#9ea7b3"
)

// The faces, with sizes of the SVG; the PNG scales them.
var faces = []face{
	{"title", 16, true, ink, inkDark},
	{"count", 12, true, ink, inkDark},
	{"date", 12, true, ink, inkDark},
	{"sum", 12, false, ink, inkDark},
	{"name", 11, false, ink, inkDark},
	{"note", 12, false, muted, mutedDark},
	{"axis", 11, false, muted, mutedDark},
	{"remark", 11, false, "#8a3d00", "#ffb77c"},
}

// The measures of lines, in pixels.
const (
	edgeWidth  = 1.5
	dashLength = 3.0
)

// styleSheet is the CSS of an SVG. dark is the media query of the dark colours. Shapes have classes and no style attributes,
// which the page's Content-Security-Policy forbids.
func styleSheet(dark string) string {
	var css, night strings.Builder
	css.WriteString("text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n")
	css.WriteString("path{fill:none;stroke-width:1}\n")
	for _, f := range fills {
		fmt.Fprintf(&css, "rect.%s{fill:%s}\n", f.class, f.light)
		fmt.Fprintf(&night, "rect.%s{fill:%s}\n", f.class, f.dark)
	}
	for _, s := range strokes {
		fmt.Fprintf(&css, "path.%s{stroke:%s}\n", s.class, s.light)
		fmt.Fprintf(&night, "path.%s{stroke:%s}\n", s.class, s.dark)
	}
	for _, f := range faces {
		weight := 400
		if f.bold {
			weight = 600
		}
		fmt.Fprintf(&css, ".%s{font-size:%gpx;font-weight:%d}text.%s,tspan.%s{fill:%s}\n", f.class, f.size, weight, f.class, f.class, f.light)
		fmt.Fprintf(&night, "text.%s,tspan.%s{fill:%s}\n", f.class, f.class, f.dark)
	}
	fmt.Fprintf(&css, "path.edge{stroke-width:%g}\npath.grace{stroke-dasharray:%g}\n", edgeWidth, dashLength)
	css.WriteString("rect.stub{opacity:.45}\nrect.hit{fill:transparent}\n")
	return css.String() + dark + "{\n" + night.String() + "}\n"
}

// lookup finds the colours of a class by its first name; the others are variants.
func lookup(paints []paint, class string) paint {
	first, _, _ := strings.Cut(class, " ")
	for _, p := range paints {
		if p.class == first {
			return p
		}
	}
	return paint{}
}

// faceOf is the face of a class, plain if it has none.
func faceOf(class string) face {
	for _, f := range faces {
		if f.class == class {
			return f
		}
	}
	return face{size: 12}
}

func colour(hex string) color.NRGBA {
	rgb, err := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	if err != nil {
		rgb = 0
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 255}
}

// The fonts of PNGs. SVGs use the reader's system font, which is about as wide.
var (
	regular = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(goregular.TTF) })
	bold    = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(gobold.TTF) })
)

const (
	// spare is how much wider other fonts are than that of PNGs; the widest common one is DejaVu Sans.
	spare = 1.16
	// space is between two runs of a text, in pixels.
	space = 5.0
)

// widthOf is the width of runs in the widest common font: the layout must fit whatever font shows the SVG.
func widthOf(runs ...run) float64 {
	sum := space * float64(max(0, len(runs)-1))
	for _, r := range runs {
		sum += spare * advance(r)
	}
	return sum
}

func advance(r run) float64 {
	face := faceOf(r.class)
	f, err := fontOf(face)
	if err != nil {
		return face.size * float64(len(r.text)) // wide enough, and unreachable: the fonts are embedded
	}
	var buffer sfnt.Buffer
	var sum fixed.Int26_6
	for _, character := range r.text {
		if glyph, err := f.GlyphIndex(&buffer, character); err == nil {
			wide, _ := f.GlyphAdvance(&buffer, glyph, fixed.Int26_6(face.size*64), font.HintingNone)
			sum += wide
		}
	}
	return float64(sum) / 64
}

func fontOf(f face) (*sfnt.Font, error) {
	if f.bold {
		return bold()
	}
	return regular()
}

func clipped(r run, room float64) run {
	if widthOf(r) <= room {
		return r
	}
	letters := []rune(r.text)
	for len(letters) > 0 && widthOf(run{r.class, string(letters) + "…"}) > room {
		letters = letters[:len(letters)-1]
	}
	return run{r.class, string(letters) + "…"}
}

// wrapped breaks a run into lines between words. A word that is too long for a line is clipped.
func wrapped(r run, room float64) []run {
	var lines []run
	line := ""
	for _, word := range strings.Fields(r.text) {
		if line != "" && widthOf(run{r.class, line + " " + word}) > room {
			lines, line = append(lines, clipped(run{r.class, line}, room)), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, clipped(run{r.class, line}, room))
}
