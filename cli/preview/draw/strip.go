package draw

import (
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// The measures of a strip, in pixels. Dates stand left of the hours, replica-hours right of them.
const (
	hourWidth  = 27.0
	gridLeft   = 118.0
	gridRight  = gridLeft + 24*hourWidth
	rowHeight  = 46.0
	barBottom  = 42.0 // below the top of a row
	barHeight  = 26.0 // of the highest count
	lowest     = 2.5  // of 1 replica beside many
	stub       = 5.0  // what shows beyond midnight of a bar that goes on there
	weekGap    = 8.0
	lineHeight = 18.0
)

// strip is a timeline as it is drawn.
type strip struct {
	timeline *timeline.Timeline
	zone     *time.Location
	rows     []row
	tops     []float64 // of the rows
	changes  map[int64]timeline.Transition
}

// newStrip has its rows, and knows transitions by their second, as segments begin with them.
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

// layOut adds the strip to a scene below top, and returns where it ends. What is added later covers what was added earlier: the
// grid lies over the ground and below the bars.
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

// place finds the top of each row, weeks apart, and returns where the last one ends.
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

// ground paints where time goes on: holidays, and what the clock leaves out.
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

// xOf is where a time of day lies, in seconds after midnight by the clock.
func xOf(second int64) float64 { return gridLeft + float64(second)*hourWidth/3600 }

// span is the part of a stretch of time that lies in one row.
type span struct {
	row int
	wall
	// Whether it begins before, or ends after what this row can show, so that it goes on at another place.
	before, after bool
}

// spans finds where a stretch of time lies in the strip.
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

// replicaSeconds is the sum of replicas times seconds in a row, of seconds that pass: an hour that the clock shows twice is in two
// rows.
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
