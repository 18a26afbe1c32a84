package picture

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// darkScreen is the media query of dark colours. Prints stay light.
const darkScreen = "@media screen and (prefers-color-scheme:dark)"

// writeSVG writes a standalone picture with its own background: the page around it may be dark although the browser asks for
// light, or the other way round.
func writeSVG(w io.Writer, s *scene) error {
	out := newSVG(w)
	out.begin(s, "img")
	out.tag("title", s.label)
	out.printf("<style>\n%s</style>\n", styleSheet(darkScreen))
	s.drawOn(out)
	out.printf("</svg>\n")
	return out.Flush()
}

// svg writes shapes as elements. Inline on a page, groups are focusable and have their tooltips as data attributes.
type svg struct {
	*bufio.Writer
	inline  bool
	focused bool // a group is in the tab order
}

// newSVG buffers; Flush returns the first error of the writer.
func newSVG(w io.Writer) *svg { return &svg{Writer: bufio.NewWriter(w)} }

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// begin gives the size as viewBox, for pages that scale the picture, and as width and height for others.
func (s *svg) begin(scene *scene, role string) {
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="%s" aria-label="%s">`+"\n",
		number(scene.width), number(scene.height), role, escaped(scene.label))
}

func (s *svg) tag(name, content string) { s.printf("<%s>%s</%[1]s>\n", name, escaped(content)) }

func (s *svg) rectangle(r rectangle) {
	s.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", r.class, number(r.x), number(r.y), number(r.width), number(r.height))
}

// line writes all paths as one element: a texture has dozens.
func (s *svg) line(l line) {
	var path strings.Builder
	for _, points := range l.paths {
		for i, p := range points {
			path.WriteString("ML"[min(i, 1):min(i, 1)+1] + number(p.x) + " " + number(p.y))
		}
	}
	s.printf(`<path class="%s" d="%s"/>`+"\n", l.class, path.String())
}

// text writes all runs as one element, so that they follow each other in any font.
func (s *svg) text(t text) {
	at := fmt.Sprintf(`x="%s" y="%s"`, number(t.x), number(t.y))
	if t.anchor != start {
		at += fmt.Sprintf(` text-anchor="%s"`, t.anchor)
	}
	if len(t.runs) == 1 {
		s.printf(`<text class="%s" %s>%s</text>`+"\n", t.runs[0].class, at, escaped(t.runs[0].text))
		return
	}
	s.printf(`<text %s>`, at)
	for i, r := range t.runs {
		apart := ""
		if i > 0 {
			apart = fmt.Sprintf(` dx="%g"`, space)
		}
		s.printf(`<tspan class="%s"%s>%s</tspan>`, r.class, apart, escaped(r.text))
	}
	s.printf("</text>\n")
}

// group has its tooltip as a title, which browsers show. On a page it also has it as data attributes for the script.
func (s *svg) group(g group) {
	if !s.inline {
		s.printf("<g>")
		s.tag("title", g.tip.sentence())
	} else {
		tab := -1 // one tab stop per strip; arrow keys move on from there
		if !s.focused {
			s.focused, tab = true, 0
		}
		s.printf(`<g class="stretch" tabindex="%d" role="img" aria-label="%s" data-row="%d"`, tab, escaped(g.tip.sentence()), g.row)
		for _, field := range g.tip.fields() {
			s.printf(` data-%s="%s"`, field.name, escaped(field.text))
		}
		s.printf(">")
		s.tag("title", g.tip.sentence())
	}
	drawAll(s, g.shapes)
	s.printf("</g>\n")
}

func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// escaped escapes text for elements and attributes. Characters that XML does not allow become U+FFFD.
func escaped(content string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(content)) // a Builder never fails
	return out.String()
}
