package draw

import (
	"cmp"
	"slices"
	"strings"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/timecalc"
)

// entry is a line of the legend.
type entry struct {
	look  string
	index int // the window's, or -1
	runs  []run
}

// entries are what the strip shows: windows in their order, what is outside them, and the signs. What does not occur in these days
// is not explained: readers would look for it.
func (s *strip) entries() []entry {
	shown := make([]string, len(s.timeline.Scaler.Spec.Windows))
	var off, open string
	for _, segment := range s.timeline.Segments {
		switch lookOf(segment) {
		case "off":
			off = s.countOf(segment)
		case "open":
			open = s.countOf(segment)
		default:
			shown[segment.Index] = segment.Window
		}
	}
	var all []entry
	for i, label := range shown {
		if label != "" {
			all = append(all, entry{lookOfWindow(i), i, s.explained(i, label)})
		}
	}
	if off != "" {
		all = append(all, entry{"off", -1, []run{{"count", "OffHours"}, {"note", "outside all windows: " + off}}})
	}
	if open != "" {
		all = append(all, entry{"open", -1, []run{{"count", openHoliday}, {"note", "the highest of all windows: " + open}}})
	}
	return append(all, s.signs()...)
}

// explained is a window's name, when it is, and how many replicas it asks for. A window that nobody has named is known by its times.
func (s *strip) explained(i int, label string) []run {
	window := s.timeline.Scaler.Spec.Windows[i]
	when := s.timesOf(window)
	count := window.Replicas.String()
	if baseline := s.timeline.Scaler.Spec.BaselineReplicas; baseline != nil && strings.HasSuffix(count, "%") {
		count += " of " + grouped(int64(*baseline))
	}
	if metric := window.Metric; metric != nil {
		count = bounds(metric) + " by the metric " + metric.Name + ", " + count + " without it"
	} else if timecalc.IsHash(label) {
		count = replicas(count)
	}
	if timecalc.IsHash(label) {
		return []run{{"count", when}, {"note", count}}
	}
	return []run{{"count", label}, {"note", when + ": " + count}}
}

// signs are those that need a word.
func (s *strip) signs() []entry {
	var all []entry
	if slices.ContainsFunc(s.rows, func(r row) bool { return len(r.skips) > 0 }) {
		all = append(all, entry{"skip", -1, []run{{"note", "left out by the clock"}}})
	}
	for _, day := range s.timeline.Days {
		if day.Holiday {
			all = append(all, entry{"holiday", -1, []run{{"note", "holiday"}}})
			break
		}
	}
	if s.timeline.Scaler.Grace() > 0 {
		all = append(all, entry{"grace", -1, []run{{"note", "grace period: the higher count stays"}}})
	}
	return all
}

// swatch is how the strip draws what the entry explains, in small.
func (e entry) swatch(x, y, width, height float64) []shape {
	switch e.look {
	case "skip":
		return []shape{hatch("skip", x, y, width, height, 6)}
	case "holiday":
		return []shape{rectangle{"holiday", x, y, width, height}}
	case "grace":
		return []shape{through("grace", point{x, y + 3}, point{x + width - 1, y + 3}, point{x + width - 1, y + height})}
	}
	shapes := []shape{rectangle{e.look, x, y, width, height}}
	if e.index >= colours {
		shapes = append(shapes, hatch("texture", x, y, width, height, textureStep(e.index)))
	}
	return append(shapes, through(e.look+" edge", point{x, y + height}, point{x, y}, point{x + width, y}, point{x + width, y + height}, point{x, y + height}))
}

// timesOf is when a window is, in few words. The zone is named where it is another one than the strip's.
func (s *strip) timesOf(w v1beta1.Window) string {
	words := daysOf(w.Days) + " " + w.Start + "\u2013" + w.End
	if zone := cmp.Or(w.Timezone, s.timeline.Scaler.Calendar.Zone.String()); zone != s.zone.String() {
		words += " " + zone
	}
	return words
}

// week is in the order of people and not of time.Weekday, whose first day is Sunday.
var week = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// daysOf joins neighbouring days of the week, such as Mon–Fri, Sun.
func daysOf(days []v1beta1.Weekday) string {
	if len(days) == len(week) {
		return "daily"
	}
	var all []string
	for i := 0; i < len(week); i++ {
		first := i
		for i < len(week) && slices.Contains(days, week[i]) {
			i++
		}
		switch i - first {
		case 0:
		case 1:
			all = append(all, string(week[first]))
		default:
			all = append(all, string(week[first])+"\u2013"+string(week[i-1]))
		}
	}
	return strings.Join(all, ", ")
}
