package draw

import (
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// tip is what is told about a segment under the pointer.
type tip struct{ local, utc, count, window, reason, before, grace string }

// sentence is a tip in one.
func (t *tip) sentence() string {
	words := t.count + " by " + t.window
	for _, field := range t.fields() {
		if field.name != "count" && field.name != "window" {
			words += "; " + field.words
		}
	}
	return words
}

// tip tells about a segment of the timeline. Why the first one has its count, the timeline does not say: it begins in the midst of it.
func (s *strip) tip(i int) *tip {
	segment := s.timeline.Segments[i]
	from, until := segment.Start.In(s.zone), segment.End.In(s.zone)
	t := &tip{
		local:  stretchOf(from, until) + " (" + offset(from) + ")",
		utc:    stretchOf(from.UTC(), until.UTC()) + " UTC",
		count:  s.replicas(segment),
		window: segment.Window,
	}
	if segment.Index >= 0 {
		t.window += " (" + s.timesOf(s.timeline.Scaler.Spec.Windows[segment.Index]) + ")"
	}
	if segment.Holiday != "" && segment.Override {
		t.window += " (holiday " + segment.Holiday + ")"
	}
	transition, changed := s.changes[segment.Start.Unix()]
	switch {
	case i == 0:
		t.reason = "so when the picture begins"
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

// kept is which higher count a grace period keeps, and until when.
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

// replicas is a segment's count with its unit, if it is one.
func (s *strip) replicas(segment timeline.Segment) string {
	count := s.countOf(segment)
	if strings.Contains(count, " ") {
		return count
	}
	return replicas(count)
}

// replicas is a count with its unit.
func replicas(count string) string {
	if count == "1" {
		return "1 replica"
	}
	return count + " replicas"
}

// fields are the parts of a tip by the names under which the page finds them.
func (t *tip) fields() []struct{ name, words string } {
	var there []struct{ name, words string }
	for _, field := range []struct{ name, words string }{
		{"local", t.local}, {"utc", t.utc}, {"count", t.count}, {"window", t.window}, {"reason", t.reason}, {"before", t.before}, {"grace", t.grace},
	} {
		if field.words != "" {
			there = append(there, field)
		}
	}
	return there
}
