package picture

import (
	"cmp"
	"slices"
	"strings"

	"kyklos.io/kyklos/internal/timecalc"
)

type entry struct {
	class string
	index int // the window's, or -1
	runs  []run
}

// entries are the windows in order, the default, open holidays and the signs, as far as they occur in the picture.
func (s *strip) entries() []entry {
	shown := make([]string, len(s.timeline.Scaler.Spec.Windows))
	var off, open string
	for _, segment := range s.timeline.Segments {
		switch classOf(segment) {
		case "off":
			off = s.countText(segment)
		case "open":
			open = s.countText(segment)
		default:
			shown[segment.Index] = segment.Window
		}
	}
	var all []entry
	for i, label := range shown {
		if label != "" {
			all = append(all, entry{windowClass(i), i, s.windowEntry(i, label)})
		}
	}
	if off != "" {
		all = append(all, entry{"off", -1, []run{{"count", "OffHours"}, {"note", "outside all windows: " + off}}})
	}
	if open != "" {
		all = append(all, entry{"open", -1, []run{{"count", timecalc.LabelHoliday}, {"note", "the highest of all windows: " + open}}})
	}
	return append(all, s.signs()...)
}

// windowEntry is a window's name, times and count. A window without a name has its times alone.
func (s *strip) windowEntry(i int, label string) []run {
	window := s.timeline.Scaler.Spec.Windows[i]
	when := s.windowTimes(i)
	count := window.Replicas.String()
	if baseline := s.timeline.Scaler.Spec.BaselineReplicas; baseline != nil && strings.HasSuffix(count, "%") {
		count += " of " + grouped(int64(*baseline))
	}
	if metric := window.Metric; metric != nil {
		count = bounds(metric) + " by metric " + metric.Name + ", " + count + " without a value"
	} else if timecalc.IsHash(label) {
		count = replicas(count)
	}
	if timecalc.IsHash(label) {
		return []run{{"count", when}, {"note", count}}
	}
	return []run{{"count", label}, {"note", when + ": " + count}}
}

func (s *strip) signs() []entry {
	var all []entry
	if slices.ContainsFunc(s.rows, func(r row) bool { return len(r.skips) > 0 }) {
		all = append(all, entry{"skip", -1, []run{{"note", "skipped by the clock"}}})
	}
	for _, day := range s.timeline.Days {
		if day.Holiday {
			all = append(all, entry{"holiday", -1, []run{{"note", "holiday"}}})
			break
		}
	}
	if s.timeline.Scaler.Grace() > 0 {
		all = append(all, entry{"grace", -1, []run{{"note", "grace period: the higher count is kept"}}})
	}
	return all
}

func (e entry) swatch(x, y, width, height float64) []shape {
	switch e.class {
	case "skip":
		return []shape{hatch("skip", x, y, width, height, 6)}
	case "holiday":
		return []shape{rectangle{"holiday", x, y, width, height}}
	case "grace":
		return []shape{through("grace", point{x, y + 3}, point{x + width - 1, y + 3}, point{x + width - 1, y + height})}
	}
	shapes := []shape{rectangle{e.class, x, y, width, height}}
	if e.index >= colours {
		shapes = append(shapes, hatch("texture", x, y, width, height, textureStep(e.index)))
	}
	return append(shapes, through(e.class+" edge", point{x, y + height}, point{x, y}, point{x + width, y}, point{x + width, y + height}, point{x, y + height}))
}

// windowTimes is the days and times of a window, and its zone if it is not the strip's.
func (s *strip) windowTimes(i int) string {
	window := s.timeline.Scaler.Calendar.Windows[i]
	days, times, _ := strings.Cut(window.In(nil).String(), " ")
	text := strings.NewReplacer("-", "\u2013", ",", ", ").Replace(days) + " " + strings.ReplaceAll(times, "-", "\u2013")
	if zone := cmp.Or(window.Zone(), s.timeline.Scaler.Calendar.Zone).String(); zone != s.zone.String() {
		text += " " + zone
	}
	return text
}
