package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// openHoliday is what decides on a holiday that is treated as open.
const openHoliday = timecalc.LabelHoliday

// nameOf is the name that is written into a segment: that of a window, if it has one for people.
func nameOf(segment timeline.Segment) string {
	if lookOf(segment) == "off" || timecalc.IsHash(segment.Window) {
		return ""
	}
	return segment.Window
}

// countOf is a segment's count, for a target that has none what it means, and between which it is while it follows a metric.
func (s *strip) countOf(segment timeline.Segment) string {
	if segment.Index >= 0 {
		if metric := s.timeline.Scaler.Spec.Windows[segment.Index].Metric; metric != nil {
			return bounds(metric)
		}
	}
	if words := s.timeline.Scaler.Count(segment.Replicas); strings.Contains(words, " ") {
		return words
	}
	return grouped(int64(segment.Replicas))
}

// bounds are between which counts a metric moves.
func bounds(metric *v1beta1.WindowMetric) string {
	lowest, highest := schedule.MetricBounds(metric)
	return grouped(int64(lowest)) + "\u2013" + grouped(int64(highest))
}

// qualified is the scaler's name, with its namespace unless that is the usual one.
func qualified(scaler *timeline.Scaler) string {
	if scaler.Namespace == "" || scaler.Namespace == "default" {
		return scaler.Name
	}
	return scaler.Namespace + "/" + scaler.Name
}

// when is the time that the strip shows, and its zone.
func (s *strip) when() string {
	from, until := s.timeline.From.In(s.zone), s.timeline.Until.In(s.zone)
	words := datesOf(from, until) + ", " + s.zone.String()
	if s.zone.String() != "UTC" {
		words += " (" + s.offsets() + ")"
	}
	if own := s.timeline.Scaler.Calendar.Zone; own.String() != s.zone.String() {
		words += "; the schedule's zone is " + own.String()
	}
	return words
}

// offsets is how far the strip's clock is from UTC, and from when on it is another way.
func (s *strip) offsets() string {
	words := offset(s.timeline.From.In(s.zone))
	for _, r := range s.rows {
		for _, p := range r.pieces {
			if p.start.After(s.timeline.From) && jumpAt(p.start) != 0 {
				words += ", from " + p.start.Format("Mon 2 Jan 15:04") + " on " + offset(p.start)
			}
		}
	}
	return words
}

// totals are what the strip adds up to, beside the highest count all the time.
func (s *strip) totals() string {
	t := s.timeline
	all := t.AlwaysHighest()
	words := hours(t.Seconds) + " replica-hours"
	if saved := all - t.Seconds; saved > 0 {
		words += fmt.Sprintf("; %s all the time would be %s, so the schedule saves %s (%d%%)", grouped(int64(t.Highest)), hours(all), hours(saved), percent(saved, all))
	}
	return words
}

// summary says the strip to those who cannot see it.
func (s *strip) summary() string {
	lowest := s.timeline.Highest
	for _, segment := range s.timeline.Segments {
		lowest = min(lowest, segment.Replicas)
	}
	return fmt.Sprintf("Replicas of %s by %s, %s: from %s to %s, %d changes. %s.", s.timeline.Scaler.Target(),
		qualified(s.timeline.Scaler), s.when(), grouped(int64(lowest)), grouped(int64(s.timeline.Highest)), len(s.timeline.Transitions), s.totals())
}

// datesOf is a stretch of time as whole dates if it can be, else to the minute.
func datesOf(from, until time.Time) string {
	const date = "Mon 2 Jan 2006"
	if last := until.Add(-1); isMidnight(from) && isMidnight(until) {
		if sameDate(from, last) {
			return from.Format(date)
		}
		return from.Format(date) + " \u2013 " + last.Format(date)
	}
	return stretchOf(from, until)
}

// stretchOf is a stretch of time to the minute, the date once if it is the same.
func stretchOf(from, until time.Time) string {
	const minute = "Mon 2 Jan 2006 15:04"
	switch {
	case isMidnight(until) && sameDate(from, until.Add(-1)):
		return from.Format(minute) + "\u201324:00"
	case sameDate(from, until) && jumpsBetween(from, until) == 0:
		return from.Format(minute) + "\u2013" + until.Format("15:04")
	default:
		return from.Format(minute) + " \u2013 " + until.Format(minute)
	}
}

// jumpsBetween is by how much the clock is put back between two instants, in seconds; 0 if it is not changed.
func jumpsBetween(from, until time.Time) int {
	_, a := from.Zone()
	_, b := until.Zone()
	return a - b
}

func isMidnight(at time.Time) bool { return at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 }

// offset is how far a zone's clock is from UTC.
func offset(at time.Time) string { return "UTC" + at.Format("-07:00") }

// clock is a time of day from seconds after midnight, as 24:00 at its end.
func clock(second int64) string { return fmt.Sprintf("%02d:%02d", second/3600, second/60%60) }

// hours are replica-hours, to a tenth.
func hours(seconds int64) string {
	tenths := (seconds + 180) / 360
	if tenths%10 == 0 {
		return grouped(tenths / 10)
	}
	return grouped(tenths/10) + "." + strconv.FormatInt(tenths%10, 10)
}

// percent is a share, rounded.
func percent(part, whole int64) int64 { return int64(math.Round(100 * float64(part) / float64(whole))) }

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
