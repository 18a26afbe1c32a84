package picture

import (
	"fmt"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// The measures of a strip, in pixels. Dates are left of the hours, replica-hours right of them.
const (
	hourWidth  = 27.0
	gridLeft   = 118.0
	gridRight  = gridLeft + 24*hourWidth
	rowHeight  = 46.0
	barBottom  = 42.0 // below the top of a row
	barHeight  = 26.0 // of the highest count
	lowest     = 2.5  // height of 1 replica next to many
	stub       = 5.0  // of a bar that continues beyond midnight
	weekGap    = 8.0
	lineHeight = 18.0
)

type strip struct {
	timeline *timeline.Timeline
	zone     *time.Location
	rows     []row
	tops     []float64 // of the rows
	changes  map[int64]timeline.Transition
}

// newStrip indexes the transitions by second: segments begin with them.
func newStrip(shown *timeline.Timeline, zone *time.Location) *strip {
	if zone == nil {
		zone = shown.Scaler.Calendar.Zone
	}
	s := &strip{timeline: shown, zone: zone, rows: rowsOf(shown.From, shown.Until, zone), changes: map[int64]timeline.Transition{}}
	for _, transition := range shown.Transitions {
		s.changes[transition.Time.Unix()] = transition
	}
	return s
}

// layOut adds the strip to a scene below top, and returns its lower end. The grid covers the ground, and the bars cover the grid.
func (s *strip) layOut(scene *scene, top float64) float64 {
	top = s.header(scene, top)
	bottom := s.place(top + 24)
	s.ground(scene)
	s.grid(scene, top+16, bottom)
	for i := range s.rows {
		s.gutters(scene, i)
	}
	s.bars(scene)
	s.graces(scene)
	return s.legend(scene, bottom+12)
}

// place sets the top of each row, with gaps between weeks, and returns the lower end of the last one.
func (s *strip) place(top float64) float64 {
	s.tops = s.tops[:0]
	for i, r := range s.rows {
		if i > 0 && r.date.Weekday() == time.Monday && !r.again {
			top += weekGap
		}
		s.tops = append(s.tops, top)
		top += rowHeight
	}
	return top
}

// ground paints the background: the hours that exist, holidays, and hours that the clock skips.
func (s *strip) ground(scene *scene) {
	for i, r := range s.rows {
		for _, p := range r.pieces {
			scene.add(rectangle{"band", xOf(p.from), s.tops[i] + 2, xOf(p.to) - xOf(p.from), rowHeight - 4})
		}
	}
	for _, day := range s.timeline.Days {
		if !day.Holiday {
			continue
		}
		for _, p := range s.spans(day.Start, day.End) {
			scene.add(rectangle{"holiday", xOf(p.from), s.tops[p.row] + 2, xOf(p.to) - xOf(p.from), rowHeight - 4})
		}
	}
	for i, r := range s.rows {
		for _, skip := range r.skips {
			scene.add(hatch("skip", xOf(skip.from), s.tops[i]+2, xOf(skip.to)-xOf(skip.from), rowHeight-4, 6))
		}
	}
}

// xOf is the position of a time of day, in seconds after midnight on the clock.
func xOf(second int64) float64 { return gridLeft + float64(second)*hourWidth/3600 }

type span struct {
	row int
	wall
	before, after bool // it begins before, or ends after, what this row shows
}

func (s *strip) spans(from, until time.Time) []span {
	var found []span
	for i, r := range s.rows {
		for _, p := range r.pieces {
			if !p.end.After(from) || !p.start.Before(until) {
				continue
			}
			part := span{row: i, wall: p.wall, before: p.start.After(from), after: p.end.Before(until)}
			if !part.before {
				part.from = p.from + from.Unix() - p.start.Unix()
			}
			if !part.after {
				part.to = p.to - (p.end.Unix() - until.Unix())
			}
			found = append(found, part)
		}
	}
	return found
}

// replicaSeconds is the sum of replicas times elapsed seconds in a row: an hour that the clock repeats is in two rows.
func (s *strip) replicaSeconds(r row) int64 {
	var sum int64
	for _, p := range r.pieces {
		for _, segment := range s.timeline.Segments {
			from, until := max(segment.Start.Unix(), p.start.Unix()), min(segment.End.Unix(), p.end.Unix())
			sum += int64(segment.Replicas) * max(0, until-from)
		}
	}
	return sum
}

// header is the scaler, the period, the totals and the notes. It returns its lower end. A title that leaves no room for the
// target has its own line.
func (s *strip) header(scene *scene, top float64) float64 {
	scaler := s.timeline.Scaler
	top += 16
	title, about := run{"title", displayName(scaler)}, "replicas of "+scaler.Target()
	lines := append([]string{s.when(), s.totals()}, scaler.Notes(s.zone)...)
	if both := []run{title, {"note", about}}; widthOf(both...) <= width-2*margin {
		scene.add(text{x: margin, y: top, anchor: start, runs: both})
	} else {
		scene.add(text{x: margin, y: top, anchor: start, runs: []run{clipped(title, width-2*margin)}})
		lines = append([]string{about}, lines...)
	}
	for _, line := range lines {
		for _, part := range wrapped(run{"note", line}, width-2*margin) {
			top += lineHeight
			scene.add(text{x: margin, y: top, anchor: start, runs: []run{part}})
		}
	}
	return top + 10
}

// grid draws the hours on the clock. When the clock changes, a row has a gap, or the date has another row.
func (s *strip) grid(scene *scene, top, bottom float64) {
	scene.add(plain("axis", margin, top, start, "local date"), plain("axis", width-margin, top-13, end, "replica-"), plain("axis", width-margin, top, end, "hours"))
	for hour := int64(0); hour <= 24; hour += 3 {
		at := xOf(hour * 3600)
		scene.add(plain("axis", at, top, middle, fmt.Sprintf("%02d:00", hour)))
		scene.add(through("grid", point{at, top + 5}, point{at, bottom}))
	}
}

// gutters writes a row's date and note on its left, and its replica-hours on its right.
func (s *strip) gutters(scene *scene, i int) {
	r, top := s.rows[i], s.tops[i]
	scene.add(through("base", point{gridLeft, top + barBottom}, point{gridRight, top + barBottom}))
	y := top + 27
	if note := s.rowNote(r); note != "" {
		y -= 6
		scene.add(text{x: margin, y: y + 14, anchor: start, runs: []run{clipped(run{"remark", note}, gridLeft-margin)}})
	}
	scene.add(plain("date", margin, y, start, r.date.Format("Mon 2 Jan")))
	scene.add(plain("sum", width-margin, top+27, end, hours(s.replicaSeconds(r))))
	if r.turns {
		s.turn(scene, i)
	}
}

// turn notes in the empty rest of a row that the clock goes back. If there is no room, the note next to the next row remains.
func (s *strip) turn(scene *scene, i int) {
	stop := s.rows[i].pieces[len(s.rows[i].pieces)-1]
	jump := -jumpAt(stop.end)
	sentence := run{"remark", fmt.Sprintf("At %s the clock goes back %s: the day continues below from %s", clock(stop.to), timeline.Span(jump), clock(stop.to-int64(jump/time.Second)))}
	if at := xOf(stop.to) + 12; at+widthOf(sentence) < gridRight {
		scene.add(text{x: at, y: s.tops[i] + 27, anchor: start, runs: []run{sentence}})
	}
}

func (s *strip) rowNote(r row) string {
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

// legend explains the colours and signs, in as many lines as needed.
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
