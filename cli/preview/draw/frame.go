package draw

import (
	"fmt"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// header says whose strip it is, of which time and zone, and what it adds up to. It returns where it ends. A title that leaves no
// room for the target has a line to itself.
func (s *strip) header(scene *scene, top float64) float64 {
	scaler := s.timeline.Scaler
	top += 16
	title, about := run{"title", qualified(scaler)}, "replicas of "+scaler.Target()
	lines := append([]string{s.when(), s.totals()}, scaler.Notes(s.zone)...)
	if both := []run{title, {"note", about}}; widthOf(both...) <= width-2*margin {
		scene.add(text{x: margin, y: top, anchor: start, runs: both})
	} else {
		scene.add(text{x: margin, y: top, anchor: start, runs: []run{clipped(title, width-2*margin)}})
		lines = append([]string{about}, lines...)
	}
	for _, sentences := range lines {
		for _, part := range wrapped(run{"note", sentences}, width-2*margin) {
			top += lineHeight
			scene.add(text{x: margin, y: top, anchor: start, runs: []run{part}})
		}
	}
	return top + 10
}

// grid draws the hours of the day over all rows, which are those of the clock: where it is changed, a row has a gap or is followed
// by another one of the same date.
func (s *strip) grid(scene *scene, top, bottom float64) {
	scene.add(words("axis", margin, top, start, "local date"), words("axis", width-margin, top-13, end, "replica-"), words("axis", width-margin, top, end, "hours"))
	for hour := int64(0); hour <= 24; hour += 3 {
		at := xOf(hour * 3600)
		scene.add(words("axis", at, top, middle, fmt.Sprintf("%02d:00", hour)))
		scene.add(through("grid", point{at, top + 5}, point{at, bottom}))
	}
}

// gutters writes a row's date and what is special about it to its left, and what it adds up to to its right.
func (s *strip) gutters(scene *scene, i int) {
	r, top := s.rows[i], s.tops[i]
	scene.add(through("base", point{gridLeft, top + barBottom}, point{gridRight, top + barBottom}))
	// A date stands in the middle of its row, or with its note below it a little higher.
	y := top + 27
	if note := s.noteOf(r); note != "" {
		y -= 6
		scene.add(text{x: margin, y: y + 14, anchor: start, runs: []run{clipped(run{"remark", note}, gridLeft-margin)}})
	}
	scene.add(words("date", margin, y, start, r.date.Format("Mon 2 Jan")))
	scene.add(words("sum", width-margin, top+27, end, hours(s.replicaSeconds(r))))
	if r.turns {
		s.turn(scene, i)
	}
}

// turn says, in the empty rest of a row, that the clock is put back here. Where there is no room for it, the note beside the next
// row must do.
func (s *strip) turn(scene *scene, i int) {
	stop := s.rows[i].pieces[len(s.rows[i].pieces)-1]
	jump := -jumpAt(stop.end)
	sentence := run{"remark", fmt.Sprintf("At %s the clock goes back %s: the day goes on below, from %s", clock(stop.to), timeline.Span(jump), clock(stop.to-int64(jump/time.Second)))}
	if at := xOf(stop.to) + 12; at+widthOf(sentence) < gridRight {
		scene.add(text{x: at, y: s.tops[i] + 27, anchor: start, runs: []run{sentence}})
	}
}

// noteOf is what is special about a row.
func (s *strip) noteOf(r row) string {
	var notes []string
	if r.again {
		notes = append(notes, "again")
	}
	for _, day := range s.timeline.Days {
		if day.Holiday && day.Start.Before(r.pieces[len(r.pieces)-1].end) && r.pieces[0].start.Before(day.End) {
			notes = append(notes, "holiday")
			break
		}
	}
	switch {
	case r.jump > 0:
		notes = append(notes, "clock +"+timeline.Span(r.jump))
	case r.jump < 0:
		notes = append(notes, "clock \u2212"+timeline.Span(-r.jump))
	}
	return strings.Join(notes, ", ")
}

// legend says which colour is which window, in as many lines as it takes.
func (s *strip) legend(scene *scene, top float64) float64 {
	const swatch, gap = 14.0, 20.0
	x, y := margin, top+12
	for _, entry := range s.entries() {
		entry.runs[len(entry.runs)-1] = clipped(entry.runs[len(entry.runs)-1], width-2*margin-swatch-6-widthOf(entry.runs[:len(entry.runs)-1]...))
		wide := swatch + 6 + widthOf(entry.runs...)
		if x > margin && x+wide > width-margin {
			x, y = margin, y+lineHeight
		}
		scene.add(entry.swatch(x, y-11, swatch, 13)...)
		scene.add(text{x: x + swatch + 6, y: y, anchor: start, runs: entry.runs})
		x += wide + gap
	}
	return y + 4
}
