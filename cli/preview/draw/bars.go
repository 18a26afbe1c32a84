package draw

import (
	"strconv"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// bar is the part of a segment that lies in one row.
type bar struct {
	span
	segment     int
	left, right float64
	top         float64 // below the top of the row
	label       []run   // the count, and who decides if there is room
	labelX      float64
}

// bars draws what the schedule asks for.
func (s *strip) bars(scene *scene) {
	rows := make([][]bar, len(s.rows))
	for i, segment := range s.timeline.Segments {
		for _, part := range s.spans(segment.Start, segment.End) {
			rows[part.row] = append(rows[part.row], bar{
				span: part, segment: i, left: xOf(part.from), right: xOf(part.to), top: barBottom - s.heightOf(segment.Replicas),
			})
		}
	}
	// Labels come first: whether one fits above a narrow bar depends on its neighbours.
	for _, row := range rows {
		s.label(row)
		for _, b := range row {
			scene.add(s.drawn(b))
		}
	}
}

// heightOf is how high a count is drawn: the highest of the timeline fills the row. One replica beside a thousand is still seen, and
// none is drawn as nothing.
func (s *strip) heightOf(replicas int32) float64 {
	if replicas <= 0 {
		return 0
	}
	return max(lowest, barHeight*float64(replicas)/float64(max(replicas, s.timeline.Highest)))
}

// drawn is a bar with its tip, its edge open where it goes on in another row. A rectangle that nobody sees fills the row around it,
// so that a bar of no height, and one of a few minutes, can be pointed at too.
func (s *strip) drawn(b bar) stretch {
	segment := s.timeline.Segments[b.segment]
	top := s.tops[b.row]
	look := lookOf(segment)
	group := stretch{tip: s.tip(b.segment), row: b.row, shapes: []shape{
		rectangle{"hit", b.left, top + 2, b.right - b.left, rowHeight - 4},
	}}
	base, peak := top+barBottom, top+b.top
	if peak < base {
		group.shapes = append(group.shapes, s.body(b, look, peak, base)...)
	}
	edge := []point{{b.left, base}, {b.left, peak}, {b.right, peak}, {b.right, base}}
	if b.before {
		edge = edge[1:]
	}
	if b.after {
		edge = edge[:len(edge)-1]
	}
	group.shapes = append(group.shapes, through(look+" edge", edge...))
	if len(b.label) > 0 {
		group.shapes = append(group.shapes, text{x: b.labelX, y: top + b.top - 4, anchor: middle, runs: b.label})
	}
	return group
}

// body fills a bar, and shows beyond the row's ends where it goes on.
func (s *strip) body(b bar, look string, peak, base float64) []shape {
	shapes := []shape{rectangle{look, b.left, peak, b.right - b.left, base - peak}}
	if b.before && b.left == gridLeft {
		shapes = append(shapes, rectangle{look + " stub", b.left - stub, peak, stub, base - peak})
	}
	if b.after && b.right == gridRight {
		shapes = append(shapes, rectangle{look + " stub", b.right, peak, stub, base - peak})
	}
	if index := s.timeline.Segments[b.segment].Index; index >= colours {
		shapes = append(shapes, hatch("texture", b.left, peak, b.right-b.left, base-peak, textureStep(index)))
	}
	return shapes
}

// lookOf is the class of what decides a segment.
func lookOf(segment timeline.Segment) string {
	switch {
	case segment.Index >= 0:
		return lookOfWindow(segment.Index)
	case segment.Override && segment.Window == openHoliday:
		return "open"
	default:
		return "off"
	}
}

// lookOfWindow is one of the palette's colours. Where there are more windows than colours, they come again with a texture.
func lookOfWindow(index int) string { return "w" + strconv.Itoa(index%colours) }

// textureStep is how far the lines of a texture are apart, closer with each round of the palette.
func textureStep(index int) float64 { return max(3, 9-2*float64(index/colours)) }

// label puts the counts of a row's bars above them, with all the words for which there is room.
func (s *strip) label(row []bar) {
	for i := range row {
		b := &row[i]
		b.labelX = (b.left + b.right) / 2
		for _, words := range s.labels(s.timeline.Segments[b.segment]) {
			if wide := widthOf(words...); wide <= b.right-b.left-4 || len(words) == 1 && fitsAbove(row, i, wide) {
				b.label = words
				break
			}
		}
	}
}

// labels are what may stand above a segment, the fullest first.
func (s *strip) labels(segment timeline.Segment) [][]run {
	count := run{"count", s.countOf(segment)}
	all := [][]run{{count, {"name", nameOf(segment)}}, {count}}
	if nameOf(segment) == "" {
		all = all[1:]
	}
	if number, _, more := strings.Cut(count.words, " "); more {
		all = append(all, []run{{"count", number}})
	}
	return all
}

// fitsAbove reports whether the label of a narrow bar can stand out over its neighbours: they are lower by a line of text, and
// their own labels do not come near.
func fitsAbove(row []bar, i int, width float64) bool {
	const lineOfText = 13
	left, right := row[i].labelX-width/2-2, row[i].labelX+width/2+2
	if left < gridLeft-stub || right > gridRight+stub {
		return false
	}
	for j, other := range row {
		if j == i || other.right <= left || other.left >= right {
			continue
		}
		middle, half := (other.left+other.right)/2, widthOf(run{"count", "000000"})/2
		if other.top < row[i].top || other.top-row[i].top < lineOfText && middle+half > left && middle-half < right {
			return false
		}
	}
	return true
}

// graces draws how long a higher count stays when a lower one is due: not beyond the next transition, which decides anew, nor
// beyond the picture.
func (s *strip) graces(scene *scene) {
	for i, transition := range s.timeline.Transitions {
		until := transition.GraceUntil
		if until.IsZero() {
			continue
		}
		if i+1 < len(s.timeline.Transitions) {
			until = earliest(until, s.timeline.Transitions[i+1].Time)
		}
		height := s.heightOf(transition.Kept)
		for _, part := range s.spans(transition.Time, earliest(until, s.timeline.Until)) {
			base := s.tops[part.row] + barBottom
			scene.add(through("grace", point{xOf(part.from), base - height}, point{xOf(part.to), base - height}, point{xOf(part.to), base}))
		}
	}
}

// earliest is the one of two instants that comes first.
func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
