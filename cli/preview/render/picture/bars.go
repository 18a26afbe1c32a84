package picture

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

type bar struct {
	span
	segment     int
	left, right float64
	top         float64 // below the top of the row
	label       []run   // the count, and the window if there is room
	labelX      float64
}

func (s *strip) bars(scene *scene) {
	rows := make([][]bar, len(s.rows))
	for i, segment := range s.timeline.Segments {
		for _, part := range s.spans(segment.Start, segment.End) {
			rows[part.row] = append(rows[part.row], bar{
				span: part, segment: i, left: xOf(part.from), right: xOf(part.to), top: barBottom - s.heightOf(segment.Replicas),
			})
		}
	}
	// Labels first: whether one fits above a narrow bar depends on its neighbours.
	for _, row := range rows {
		s.label(row)
		for _, b := range row {
			scene.add(s.drawn(b))
		}
	}
}

// heightOf is the height of a count's bar: the highest of the timeline fills the row, 0 has none, and 1 stays visible
// next to 1000.
func (s *strip) heightOf(replicas int32) float64 {
	if replicas <= 0 {
		return 0
	}
	return max(lowest, barHeight*float64(replicas)/float64(max(replicas, s.timeline.Highest)))
}

// drawn is a bar with its tooltip. Its outline is open where it continues in another row. An invisible rectangle fills the
// row around it, so that the pointer also finds low and narrow bars.
func (s *strip) drawn(b bar) group {
	segment := s.timeline.Segments[b.segment]
	top := s.tops[b.row]
	class := classOf(segment)
	group := group{tip: s.tip(b.segment), row: b.row, shapes: []shape{
		rectangle{"hit", b.left, top + 2, b.right - b.left, rowHeight - 4},
	}}
	base, peak := top+barBottom, top+b.top
	if peak < base {
		group.shapes = append(group.shapes, s.body(b, class, peak, base)...)
	}
	edge := []point{{b.left, base}, {b.left, peak}, {b.right, peak}, {b.right, base}}
	if b.before {
		edge = edge[1:]
	}
	if b.after {
		edge = edge[:len(edge)-1]
	}
	group.shapes = append(group.shapes, through(class+" edge", edge...))
	if len(b.label) > 0 {
		group.shapes = append(group.shapes, text{x: b.labelX, y: top + b.top - 4, anchor: middle, runs: b.label})
	}
	return group
}

// body fills a bar, and extends it over the row's ends where it continues.
func (s *strip) body(b bar, class string, peak, base float64) []shape {
	shapes := []shape{rectangle{class, b.left, peak, b.right - b.left, base - peak}}
	if b.before && b.left == gridLeft {
		shapes = append(shapes, rectangle{class + " stub", b.left - stub, peak, stub, base - peak})
	}
	if b.after && b.right == gridRight {
		shapes = append(shapes, rectangle{class + " stub", b.right, peak, stub, base - peak})
	}
	if index := s.timeline.Segments[b.segment].Index; index >= colours {
		shapes = append(shapes, hatch("texture", b.left, peak, b.right-b.left, base-peak, textureStep(index)))
	}
	return shapes
}

// classOf is the class of a segment's window, default or holiday.
func classOf(segment timeline.Segment) string {
	switch {
	case segment.Index >= 0:
		return windowClass(segment.Index)
	case segment.Override && segment.Window == timecalc.LabelHoliday:
		return "open"
	default:
		return "off"
	}
}

// windowClass is one of the palette's colours. With more windows than colours, they repeat with a texture.
func windowClass(index int) string { return "w" + strconv.Itoa(index%colours) }

// textureStep is the distance of a texture's lines, closer with each round of the palette.
func textureStep(index int) float64 { return max(3, 9-2*float64(index/colours)) }

// label puts the fullest label that fits above each bar of a row.
func (s *strip) label(row []bar) {
	for i := range row {
		b := &row[i]
		b.labelX = (b.left + b.right) / 2
		for _, runs := range s.labels(s.timeline.Segments[b.segment]) {
			if wide := widthOf(runs...); wide <= b.right-b.left-4 || len(runs) == 1 && fitsAbove(row, i, wide) {
				b.label = runs
				break
			}
		}
	}
}

// labels are the possible labels of a segment, the fullest first.
func (s *strip) labels(segment timeline.Segment) [][]run {
	count := run{"count", s.countText(segment)}
	all := [][]run{{count, {"name", segmentName(segment)}}, {count}}
	if segmentName(segment) == "" {
		all = all[1:]
	}
	if number, _, more := strings.Cut(count.text, " "); more {
		all = append(all, []run{{"count", number}})
	}
	return all
}

// fitsAbove reports whether the label of a narrow bar may extend over its neighbours: they are lower by a line of text, and
// their own labels are not near.
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

// graces draws how long grace periods keep the higher count, up to the next transition or the end of the picture.
func (s *strip) graces(scene *scene) {
	for i, transition := range s.timeline.Transitions {
		ends := []time.Time{transition.GraceUntil, s.timeline.Until}
		if transition.GraceUntil.IsZero() {
			continue
		}
		if i+1 < len(s.timeline.Transitions) {
			ends = append(ends, s.timeline.Transitions[i+1].Time)
		}
		height := s.heightOf(transition.Kept)
		for _, part := range s.spans(transition.Time, slices.MinFunc(ends, time.Time.Compare)) {
			base := s.tops[part.row] + barBottom
			scene.add(through("grace", point{xOf(part.from), base - height}, point{xOf(part.to), base - height}, point{xOf(part.to), base}))
		}
	}
}
