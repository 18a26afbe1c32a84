package main

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// drawing is a picture in the making. The colours are distinguishable with red-green colour blindness, and no
// information is in the colour alone.
type drawing struct{ strings.Builder }

const style = `<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #57606a; }
.title { font-size: 14px; fill: #24292f; }
.name { font-size: 13px; font-weight: 600; fill: #24292f; }
.operation { font-weight: 600; fill: #0550ae; }
.wrong { font-weight: 600; fill: #953800; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.state { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5; }
.outside { fill: none; stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 5 3; }
.error { fill: #fff1e5; stroke: #bc4c00; stroke-width: 1.5; stroke-dasharray: 5 3; }
.arrow { fill: none; stroke: #0969da; stroke-width: 1.75; }
.back { fill: none; stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 5 3; }
.grid { fill: none; stroke: #d0d7de; stroke-width: 1; }
.head { fill: #0969da; }
.backhead { fill: #8c959f; }
.point { fill: #bc4c00; }
rect.whole { fill: #54aeff; stroke: #0969da; stroke-width: 1.5; }
rect.part { fill: none; stroke: #0969da; stroke-width: 1.5; stroke-dasharray: 3 3; }
text.whole { fill: #0a3069; font-weight: 600; }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1; } .title, .name { fill: #e6edf3; } .operation { fill: #79c0ff; } .wrong { fill: #ffa657; }
.state { fill: #0c2d4d; stroke: #58a6ff; } .outside, .back { stroke: #6e7681; } .error { fill: #3d1e00; stroke: #f0883e; }
.arrow, rect.part { stroke: #58a6ff; } .head { fill: #58a6ff; } .backhead { fill: #6e7681; } .point { fill: #f0883e; }
.grid { stroke: #30363d; } rect.whole { fill: #1f6feb; stroke: #58a6ff; } text.whole { fill: #ffffff; }
}
</style>
<defs>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8Z"/></marker>
<marker id="backhead" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="backhead" d="M0 0L8 4L0 8Z"/></marker>
</defs>
`

// begin begins a picture of a size in pixels; label says to those who cannot see it what it shows.
func begin(width, height int, title, label string) *drawing {
	d := &drawing{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, escaped(label))
	d.WriteString(style)
	d.text("title", left, 22, title)
	return d
}

func (d *drawing) finish() []byte {
	d.WriteString("</svg>\n")
	return []byte(d.String())
}

func (d *drawing) text(class string, x, y int, line string) {
	fmt.Fprintf(d, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, escaped(line))
}

// lines writes one line below the other.
func (d *drawing) lines(class string, x, y int, lines ...string) {
	for i, line := range lines {
		d.text(class, x, y+i*lineHeight, line)
	}
}

func (d *drawing) box(class string, b box) {
	fmt.Fprintf(d, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", class, b.x, b.y, b.width, b.height)
}

// arrow draws a path that ends in a head: back for dashed ones.
func (d *drawing) arrow(class, path string) {
	head := "head"
	if class == "back" {
		head = "backhead"
	}
	fmt.Fprintf(d, `<path class="%s" d="%s" marker-end="url(#%s)"/>`+"\n", class, path, head)
}

// point draws the sign of the point of no return.
func (d *drawing) point(x, y int) {
	fmt.Fprintf(d, `<path class="point" d="M%d %dl6 6l-6 6l-6 -6Z"/>`+"\n", x, y-6)
}

type box struct{ x, y, width, height int }

func (b box) right() int  { return b.x + b.width }
func (b box) bottom() int { return b.y + b.height }
func (b box) center() int { return b.x + b.width/2 }

// The pictures' measures, in pixels.
const (
	width, left = 896, 16
	lineHeight  = 17
)

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder never fails
	return out.String()
}
