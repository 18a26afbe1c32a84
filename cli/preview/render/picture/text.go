package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// segmentName is the label of a segment's window, "" for the default and windows without names.
func segmentName(segment timeline.Segment) string {
	if classOf(segment) == "off" || timecalc.IsHash(segment.Window) {
		return ""
	}
	return segment.Window
}

// countText is a segment's count with its meaning for the target, or the bounds of its metric.
func (s *strip) countText(segment timeline.Segment) string {
	if segment.Index >= 0 {
		if metric := s.timeline.Scaler.Spec.Windows[segment.Index].Metric; metric != nil {
			return bounds(metric)
		}
	}
	if count := s.timeline.Scaler.Count(segment.Replicas); strings.Contains(count, " ") {
		return count
	}
	return grouped(int64(segment.Replicas))
}

func bounds(metric *v1beta1.WindowMetric) string {
	lowest, highest := schedule.MetricBounds(metric)
	return grouped(int64(lowest)) + "\u2013" + grouped(int64(highest))
}

// displayName is the scaler's name, with its namespace unless that is the default.
func displayName(scaler *timeline.Scaler) string {
	if scaler.Namespace == "" || scaler.Namespace == "default" {
		return scaler.Name
	}
	return scaler.Namespace + "/" + scaler.Name
}

func (s *strip) when() string {
	from, until := s.timeline.From.In(s.zone), s.timeline.Until.In(s.zone)
	text := dateRange(from, until) + ", " + s.zone.String()
	if s.zone.String() != "UTC" {
		text += " (" + s.offsets() + ")"
	}
	if own := s.timeline.Scaler.Calendar.Zone; own.String() != s.zone.String() {
		text += "; the schedule's zone is " + own.String()
	}
	return text
}

// offsets is the zone's UTC offset, and each change of it.
func (s *strip) offsets() string {
	text := offset(s.timeline.From.In(s.zone))
	for _, r := range s.rows {
		for _, p := range r.pieces {
			if p.start.After(s.timeline.From) && jumpAt(p.start) != 0 {
				text += ", " + offset(p.start) + " from " + p.start.Format("Mon 2 Jan 15:04")
			}
		}
	}
	return text
}

// totals compares the replica-hours with those of the highest count.
func (s *strip) totals() string {
	t := s.timeline
	all := t.AlwaysHighest()
	text := hours(t.Seconds) + " replica-hours"
	if saved := all - t.Seconds; saved > 0 {
		text += fmt.Sprintf("; %s all the time would be %s, so the schedule saves %s (%d%%)", grouped(int64(t.Highest)), hours(all), hours(saved), percent(saved, all))
	}
	return text
}

func (s *strip) summary() string {
	lowest := s.timeline.Highest
	for _, segment := range s.timeline.Segments {
		lowest = min(lowest, segment.Replicas)
	}
	return fmt.Sprintf("Replicas of %s by %s, %s: from %s to %s, %d changes. %s.", s.timeline.Scaler.Target(),
		displayName(s.timeline.Scaler), s.when(), grouped(int64(lowest)), grouped(int64(s.timeline.Highest)), len(s.timeline.Transitions), s.totals())
}

// dateRange is a period in whole dates if possible, else to the minute.
func dateRange(from, until time.Time) string {
	const date = "Mon 2 Jan 2006"
	if last := until.Add(-1); isMidnight(from) && isMidnight(until) {
		if sameDate(from, last) {
			return from.Format(date)
		}
		return from.Format(date) + " \u2013 " + last.Format(date)
	}
	return timeRange(from, until)
}

// timeRange is a period to the minute, with one date if both ends have the same.
func timeRange(from, until time.Time) string {
	const minute = "Mon 2 Jan 2006 15:04"
	switch {
	case isMidnight(until) && sameDate(from, until.Add(-1)):
		return from.Format(minute) + "\u201324:00"
	case sameDate(from, until) && offsetChange(from, until) == 0:
		return from.Format(minute) + "\u2013" + until.Format("15:04")
	default:
		return from.Format(minute) + " \u2013 " + until.Format(minute)
	}
}

// offsetChange is the difference of the UTC offsets of two instants, in seconds.
func offsetChange(from, until time.Time) int {
	_, a := from.Zone()
	_, b := until.Zone()
	return a - b
}

func isMidnight(at time.Time) bool { return at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 }

func offset(at time.Time) string { return "UTC" + at.Format("-07:00") }

// clock is a time of day from seconds after midnight, up to 24:00.
func clock(second int64) string { return fmt.Sprintf("%02d:%02d", second/3600, second/60%60) }

func hours(seconds int64) string {
	tenths := (seconds + 180) / 360
	if tenths%10 == 0 {
		return grouped(tenths / 10)
	}
	return grouped(tenths/10) + "." + strconv.FormatInt(tenths%10, 10)
}

// percent is a share, rounded.
func percent(part, whole int64) int64 { return int64(math.Round(100 * float64(part) / float64(whole))) }

var english = message.NewPrinter(language.English) // of numbers with thousands separators

func grouped(n int64) string { return english.Sprint(n) }

type tip struct{ local, utc, count, window, reason, before, grace string }

func (t *tip) sentence() string {
	text := t.count + " by " + t.window
	for _, field := range t.fields() {
		if field.name != "count" && field.name != "window" {
			text += "; " + field.text
		}
	}
	return text
}

// tip is the tooltip of a segment. The timeline does not know why the first one has its count.
func (s *strip) tip(i int) *tip {
	segment := s.timeline.Segments[i]
	from, until := segment.Start.In(s.zone), segment.End.In(s.zone)
	t := &tip{
		local:  timeRange(from, until) + " (" + offset(from) + ")",
		utc:    timeRange(from.UTC(), until.UTC()) + " UTC",
		count:  s.replicas(segment),
		window: segment.Window,
	}
	if segment.Index >= 0 {
		t.window += " (" + s.windowTimes(segment.Index) + ")"
	}
	if segment.Holiday != "" && segment.Override {
		t.window += " (holiday " + segment.Holiday + ")"
	}
	transition, changed := s.changes[segment.Start.Unix()]
	switch {
	case i == 0:
		t.reason = "at the start of the picture"
		return t
	case !changed:
		t.reason = "another window, the same count"
	default:
		t.reason = s.timeline.Why(transition)
	}
	t.before = "before: " + s.replicas(s.timeline.Segments[i-1])
	if !transition.GraceUntil.IsZero() {
		t.grace = s.kept(transition)
	}
	return t
}

// kept is the higher count that a grace period keeps, and until when.
func (s *strip) kept(t timeline.Transition) string {
	layout := "15:04"
	if t.GraceUntil.Second() != 0 {
		layout = time.TimeOnly
	}
	if !sameDate(t.Time.In(s.zone), t.GraceUntil.In(s.zone)) {
		layout = "Mon " + layout
	}
	return s.timeline.Scaler.Count(t.Kept) + " kept until " + t.GraceUntil.In(s.zone).Format(layout)
}

// replicas is a segment's count with its unit, if it is a number.
func (s *strip) replicas(segment timeline.Segment) string {
	count := s.countText(segment)
	if strings.Contains(count, " ") {
		return count
	}
	return replicas(count)
}

func replicas(count string) string {
	if count == "1" {
		return "1 replica"
	}
	return count + " replicas"
}

// fields are the parts of a tooltip that are not empty, by the names of the page's data attributes.
func (t *tip) fields() []struct{ name, text string } {
	var there []struct{ name, text string }
	for _, field := range []struct{ name, text string }{
		{"local", t.local}, {"utc", t.utc}, {"count", t.count}, {"window", t.window}, {"reason", t.reason}, {"before", t.before}, {"grace", t.grace},
	} {
		if field.text != "" {
			there = append(there, field)
		}
	}
	return there
}
