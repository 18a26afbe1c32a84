package draw

import (
	"fmt"
	"strings"
)

// colours is how many windows have a colour of their own: the palette of Okabe and Ito (Color Universal Design, 2008), which
// people with any of the common kinds of colour blindness tell apart.
const colours = 7

// paint is the colour of a class, light and dark, as #rrggbb.
type paint struct{ class, light, dark string }

// What rectangles are filled with.
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

// What lines are drawn with: the fills' own hue where it stands out from the page, else a stronger one.
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

// face is how the words of a class look.
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

// The faces. Sizes are those of the SVG; a PNG has them scaled.
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

// dashes and widths of lines that are not plain, in pixels.
const (
	edgeWidth  = 1.5
	dashLength = 3.0
)

// styleSheet is what an SVG needs to look right, in both lights. dark is the media query for the second. Shapes have classes and no
// styles of their own: the policy of the page forbids those, and a page has one style sheet for all strips.
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

// lookup finds what belongs to the first word of a class; the others are variants.
func lookup(paints []paint, class string) paint {
	first, _, _ := strings.Cut(class, " ")
	for _, p := range paints {
		if p.class == first {
			return p
		}
	}
	return paint{}
}

// faceOf is a plain face for a class that has none, so that nothing is lost.
func faceOf(class string) face {
	for _, f := range faces {
		if f.class == class {
			return f
		}
	}
	return face{size: 12}
}
