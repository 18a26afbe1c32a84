package diff

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/targetkind"
)

// Kind says what happens to a schedule, or to one of its transitions. It is part of the JSON, which is stable.
type Kind string

// The kinds.
const (
	Added     Kind = "added"
	Removed   Kind = "removed"
	Moved     Kind = "moved"     // a transition: the same change of the count at another time
	Changed   Kind = "changed"   // a transition: another count at the same time; a schedule: anything
	Unchanged Kind = "unchanged" // a schedule only
)

// Step is what happens to one transition.
type Step struct {
	Kind Kind
	// Before and After are the transition; Before is nil if it is added, After if it is removed.
	Before, After *timeline.Transition
}

// By is how much later a transition that moved happens; negative if it is earlier.
func (s Step) By() time.Duration {
	if s.Kind != Moved {
		return 0
	}
	return s.After.Time.Sub(s.Before.Time)
}

// at is the transition that the step is about, the new one if there is one.
func (s Step) at() *timeline.Transition {
	if s.After != nil {
		return s.After
	}
	return s.Before
}

// Scaler is what happens to one schedule.
type Scaler struct {
	Kind Kind
	// Before and After are its timelines; Before is nil if it is added, After if it is removed.
	Before, After *timeline.Timeline
	// Steps are the transitions that are not the same before and after, by time. Those that differ in the name of the
	// window or the reason alone do the same.
	Steps []Step
	// Settings are what else differs in the spec and does not show in transitions.
	Settings []Setting
	// HolidaysAdded and HolidaysRemoved are the listed dates, from the timelines' beginning on.
	HolidaysAdded, HolidaysRemoved []string
	// Notes are further remarks of the caller's.
	Notes []string
}

// Now is the timeline that stands for the scaler: that after the change, if there is one.
func (s *Scaler) Now() *timeline.Timeline {
	if s.After != nil {
		return s.After
	}
	return s.Before
}

// Renamed reports whether the scaler has another name after the change: it scales the same target.
func (s *Scaler) Renamed() bool {
	return s.Before != nil && s.After != nil && key(s.Before) != key(s.After)
}

// starts are the counts with which the timelines begin; nil where there is none.
func (s *Scaler) starts() (before, after *int32) { return start(s.Before), start(s.After) }

// start is the count before the first transition. No transition tells of it, so another one at the beginning would not
// show in steps.
func start(t *timeline.Timeline) *int32 {
	if t == nil || len(t.Segments) == 0 {
		return nil
	}
	return &t.Segments[0].Replicas
}

// Seconds are the sums of replicas times seconds.
func (s *Scaler) Seconds() (before, after int64) { return sum(s.Before), sum(s.After) }

// sum is 0 on the side on which there is no schedule: what is added costs all of what it asks for.
func sum(t *timeline.Timeline) int64 {
	if t == nil {
		return 0
	}
	return t.Seconds
}

// Difference is what a change does.
type Difference struct {
	// Scalers are all schedules of both sides, by namespace and name.
	Scalers []Scaler
	// Before and After are the sums of replicas times seconds, of all schedules.
	Before, After int64
}

// Empty reports whether the change does nothing.
func (d *Difference) Empty() bool {
	return !slices.ContainsFunc(d.Scalers, func(s Scaler) bool { return s.Kind != Unchanged })
}

// Compare returns what differs between timelines of the same stretch of time. Of several of one name, the first before is
// compared with the first after, and so on. A scaler that went is the same as one that came if both have the same target, and
// no other has.
func Compare(before, after []*timeline.Timeline) *Difference {
	d := &Difference{}
	gone, come := byKey(before), byKey(after)
	// The order of maps does not matter: what comes of it is sorted below.
	for name, ours := range gone {
		for len(ours) > 0 && len(come[name]) > 0 {
			d.Scalers = append(d.Scalers, compare(ours[0], come[name][0]))
			ours, come[name] = ours[1:], come[name][1:]
		}
		gone[name] = ours
	}
	d.pairRenamed(rest(gone), rest(come))
	slices.SortStableFunc(d.Scalers, func(a, b Scaler) int {
		x, y := a.Now().Scaler, b.Now().Scaler
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for i := range d.Scalers {
		was, is := d.Scalers[i].Seconds()
		d.Before, d.After = d.Before+was, d.After+is
	}
	return d
}

func key(t *timeline.Timeline) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Scaler.Namespace, Name: t.Scaler.Name}
}

// byKey keeps the order among schedules of one name. There can be several, as in two overlays of one base.
func byKey(timelines []*timeline.Timeline) map[types.NamespacedName][]*timeline.Timeline {
	all := make(map[types.NamespacedName][]*timeline.Timeline)
	for _, t := range timelines {
		all[key(t)] = append(all[key(t)], t)
	}
	return all
}

// rest are the timelines of all names, by name.
func rest(all map[types.NamespacedName][]*timeline.Timeline) (left []*timeline.Timeline) {
	for _, timelines := range all {
		left = append(left, timelines...)
	}
	slices.SortStableFunc(left, func(a, b *timeline.Timeline) int {
		return cmp.Or(cmp.Compare(a.Scaler.Namespace, b.Scaler.Namespace), cmp.Compare(a.Scaler.Name, b.Scaler.Name))
	})
	return left
}

// pairRenamed takes a schedule that went for one that came if both scale the same target and neither has a rival: of two
// candidates it would have to guess, and a wrong guess reads like a change that nobody has made.
func (d *Difference) pairRenamed(gone, come []*timeline.Timeline) {
	for _, t := range gone {
		others, heirs := sameTarget(t, gone), sameTarget(t, come)
		if len(others) == 1 && len(heirs) == 1 {
			d.Scalers = append(d.Scalers, compare(t, heirs[0]))
			come = slices.DeleteFunc(come, func(other *timeline.Timeline) bool { return other == heirs[0] })
			continue
		}
		d.Scalers = append(d.Scalers, compare(t, nil))
	}
	for _, t := range come {
		d.Scalers = append(d.Scalers, compare(nil, t))
	}
}

// sameTarget are those with the target of another, by the rule by which admission and the controller know it (B8).
func sameTarget(as *timeline.Timeline, among []*timeline.Timeline) (alike []*timeline.Timeline) {
	for _, t := range among {
		if t.Scaler.Namespace == as.Scaler.Namespace && targetkind.SameTarget(t.Scaler.Spec.TargetRef, as.Scaler.Spec.TargetRef) {
			alike = append(alike, t)
		}
	}
	return alike
}

// compare compares one schedule; one of the two may be nil.
func compare(before, after *timeline.Timeline) Scaler {
	s := Scaler{Before: before, After: after, Steps: steps(transitions(before), transitions(after))}
	switch {
	case before == nil:
		s.Kind = Added
		return s
	case after == nil:
		s.Kind = Removed
		return s
	}
	s.Settings = settings(before.Scaler.Spec, after.Scaler.Spec)
	s.HolidaysAdded, s.HolidaysRemoved = holidays(before, after)
	s.Kind = Unchanged
	was, is := s.starts()
	differs := was != nil && is != nil && *was != *is
	if differs || s.Renamed() || len(s.Steps)+len(s.Settings)+len(s.HolidaysAdded)+len(s.HolidaysRemoved) > 0 {
		s.Kind = Changed
	}
	return s
}

// transitions are none on the side on which there is no schedule, so that all of the other side come or go.
func transitions(t *timeline.Timeline) []timeline.Transition {
	if t == nil {
		return nil
	}
	return t.Transitions
}
