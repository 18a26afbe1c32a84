package draw

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// darkScreen is when a picture turns dark. Paper stays light.
const darkScreen = "@media screen and (prefers-color-scheme:dark)"

// writeSVG writes a picture for a file of its own. It brings its own page colour: where it is shown may be dark though the reader's
// browser asks for light, or the other way round.
func writeSVG(w io.Writer, s *scene) error {
	out := newSVG(w)
	out.begin(s, "img")
	out.tag("title", s.label)
	out.printf("<style>\n%s</style>\n", styleSheet(darkScreen))
	s.paintOn(out)
	out.printf("</svg>\n")
	return out.Flush()
}

// svg writes shapes as elements. A page's are live: its stretches take the focus and carry what their tips say.
type svg struct {
	*bufio.Writer
	live    bool
	focused bool // one stretch has been given the place in the order of tabs
}

// newSVG buffers. The first failure of the writer is kept, and Flush returns it.
func newSVG(w io.Writer) *svg { return &svg{Writer: bufio.NewWriter(w)} }

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// begin says the size twice: viewBox lets pages scale the picture, width and height are for those that do not.
func (s *svg) begin(scene *scene, role string) {
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="%s" aria-label="%s">`+"\n",
		number(scene.width), number(scene.height), role, escaped(scene.label))
}

func (s *svg) tag(name, words string) { s.printf("<%s>%s</%[1]s>\n", name, escaped(words)) }

func (s *svg) rectangle(r rectangle) {
	s.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", r.class, number(r.x), number(r.y), number(r.width), number(r.height))
}

// line makes one element of all paths of a line: a texture has dozens.
func (s *svg) line(l line) {
	var path strings.Builder
	for _, points := range l.paths {
		for i, p := range points {
			path.WriteString("ML"[min(i, 1):min(i, 1)+1] + number(p.x) + " " + number(p.y))
		}
	}
	s.printf(`<path class="%s" d="%s"/>`+"\n", l.class, path.String())
}

// text puts runs into one element, so that the reader's own font moves the later ones along.
func (s *svg) text(t text) {
	at := fmt.Sprintf(`x="%s" y="%s"`, number(t.x), number(t.y))
	if t.anchor != start {
		at += fmt.Sprintf(` text-anchor="%s"`, t.anchor)
	}
	if len(t.runs) == 1 {
		s.printf(`<text class="%s" %s>%s</text>`+"\n", t.runs[0].class, at, escaped(t.runs[0].words))
		return
	}
	s.printf(`<text %s>`, at)
	for i, r := range t.runs {
		apart := ""
		if i > 0 {
			apart = fmt.Sprintf(` dx="%g"`, space)
		}
		s.printf(`<tspan class="%s"%s>%s</tspan>`, r.class, apart, escaped(r.words))
	}
	s.printf("</text>\n")
}

// stretch has its tip as a title, which browsers show by themselves. On a page it has it in parts as well, which its script lays
// out.
func (s *svg) stretch(group stretch) {
	if !s.live {
		s.printf("<g>")
		s.tag("title", group.tip.sentence())
	} else {
		tab := -1 // one stop for each strip; from there, arrow keys lead on
		if !s.focused {
			s.focused, tab = true, 0
		}
		s.printf(`<g class="stretch" tabindex="%d" role="img" aria-label="%s" data-row="%d"`, tab, escaped(group.tip.sentence()), group.row)
		for _, field := range group.tip.fields() {
			s.printf(` data-%s="%s"`, field.name, escaped(field.words))
		}
		s.printf(">")
		s.tag("title", group.tip.sentence())
	}
	paintAll(s, group.shapes)
	s.printf("</g>\n")
}

// number is a measure to a hundredth.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// escaped is for elements and attributes alike. Characters that XML does not have become U+FFFD.
func escaped(words string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(words)) // a Builder never fails
	return out.String()
}
