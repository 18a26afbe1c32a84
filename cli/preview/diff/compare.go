// Package diff compares timelines before and after a change of manifests: which transitions are added, removed or moved, and
// the replica-hours that this costs or saves. It is pure.
package diff

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/targetkind"
)

// Kind is what happens to a schedule, or to one of its transitions. It is part of the JSON, which is stable.
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
	// Before is nil if the transition is added, After if it is removed.
	Before, After *timeline.Transition
}

// By is how much later a moved transition is, negative if it is earlier.
func (s Step) By() time.Duration {
	if s.Kind != Moved {
		return 0
	}
	return s.After.Time.Sub(s.Before.Time)
}

// at is the new transition, or the removed one.
func (s Step) at() *timeline.Transition {
	return cmp.Or(s.After, s.Before)
}

// Scaler is what happens to one schedule.
type Scaler struct {
	Kind Kind
	// Before is nil if the schedule is added, After if it is removed.
	Before, After *timeline.Timeline
	// Steps are the transitions that differ in time or count, ordered by time.
	Steps []Step
	// Settings are differences of the spec that transitions do not show.
	Settings []Setting
	// HolidaysAdded and HolidaysRemoved are the listed dates that differ, from the start of the timelines.
	HolidaysAdded, HolidaysRemoved []string
	// Notes are the caller's remarks.
	Notes []string
}

// Now is the timeline after the change, or before it if the schedule is removed.
func (s *Scaler) Now() *timeline.Timeline {
	return cmp.Or(s.After, s.Before)
}

// Renamed reports whether the scaler has another name after the change.
func (s *Scaler) Renamed() bool {
	return s.Before != nil && s.After != nil && key(s.Before) != key(s.After)
}

// starts are the counts at the start of the timelines, which no transition shows; nil on the side without the schedule.
func (s *Scaler) starts() (before, after *int32) { return start(s.Before), start(s.After) }

func (s *Scaler) startsDiffer() bool {
	before, after := s.starts()
	return before != nil && after != nil && *before != *after
}

func start(t *timeline.Timeline) *int32 {
	if t == nil || len(t.Segments) == 0 {
		return nil
	}
	return &t.Segments[0].Replicas
}

// Seconds are the sums of replicas times seconds, 0 on the side without the schedule.
func (s *Scaler) Seconds() (before, after int64) { return sum(s.Before), sum(s.After) }

func sum(t *timeline.Timeline) int64 {
	if t == nil {
		return 0
	}
	return t.Seconds
}

// Difference is the effect of a change.
type Difference struct {
	// Scalers are all schedules of both sides, by namespace and name.
	Scalers []Scaler
	// Before and After are the sums of replicas times seconds, of all schedules.
	Before, After int64
}

// Empty reports whether the change has no effect.
func (d *Difference) Empty() bool {
	return !slices.ContainsFunc(d.Scalers, func(s Scaler) bool { return s.Kind != Unchanged })
}

// Compare compares timelines of the same period. Several of the same name are compared in order. A removed scaler and an
// added one are taken for a rename if both have the same target, and no others have it.
func Compare(before, after []*timeline.Timeline) *Difference {
	d := &Difference{}
	removed, added := byKey(before), byKey(after)
	for name, ours := range removed { // in any order: the result is sorted
		for len(ours) > 0 && len(added[name]) > 0 {
			d.Scalers = append(d.Scalers, compare(ours[0], added[name][0]))
			ours, added[name] = ours[1:], added[name][1:]
		}
		removed[name] = ours
	}
	d.pairRenamed(sorted(removed), sorted(added))
	slices.SortStableFunc(d.Scalers, func(a, b Scaler) int { return byName(a.Now(), b.Now()) })
	for i := range d.Scalers {
		was, is := d.Scalers[i].Seconds()
		d.Before, d.After = d.Before+was, d.After+is
	}
	return d
}

func key(t *timeline.Timeline) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Scaler.Namespace, Name: t.Scaler.Name}
}

// byKey keeps the order of schedules of the same name, as in two overlays of one base.
func byKey(timelines []*timeline.Timeline) map[types.NamespacedName][]*timeline.Timeline {
	all := make(map[types.NamespacedName][]*timeline.Timeline)
	for _, t := range timelines {
		all[key(t)] = append(all[key(t)], t)
	}
	return all
}

func sorted(all map[types.NamespacedName][]*timeline.Timeline) []*timeline.Timeline {
	timelines := slices.Concat(slices.Collect(maps.Values(all))...)
	slices.SortStableFunc(timelines, byName)
	return timelines
}

func byName(a, b *timeline.Timeline) int {
	return cmp.Or(cmp.Compare(a.Scaler.Namespace, b.Scaler.Namespace), cmp.Compare(a.Scaler.Name, b.Scaler.Name))
}

// pairRenamed pairs a removed and an added schedule with the same target, unless there are other candidates: a wrong guess would
// show a change that was not made.
func (d *Difference) pairRenamed(removed, added []*timeline.Timeline) {
	for _, t := range removed {
		others, successors := sameTarget(t, removed), sameTarget(t, added)
		if len(others) == 1 && len(successors) == 1 {
			d.Scalers = append(d.Scalers, compare(t, successors[0]))
			added = slices.DeleteFunc(added, func(other *timeline.Timeline) bool { return other == successors[0] })
			continue
		}
		d.Scalers = append(d.Scalers, compare(t, nil))
	}
	for _, t := range added {
		d.Scalers = append(d.Scalers, compare(nil, t))
	}
}

// sameTarget are the timelines with the target of another, by the rule of admission and the controller (B8).
func sameTarget(as *timeline.Timeline, among []*timeline.Timeline) (alike []*timeline.Timeline) {
	for _, t := range among {
		if t.Scaler.Namespace == as.Scaler.Namespace && targetkind.SameTarget(t.Scaler.Spec.TargetRef, as.Scaler.Spec.TargetRef) {
			alike = append(alike, t)
		}
	}
	return alike
}

// compare compares one schedule; one side may be nil.
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
	if s.startsDiffer() || s.Renamed() || len(s.Steps)+len(s.Settings)+len(s.HolidaysAdded)+len(s.HolidaysRemoved) > 0 {
		s.Kind = Changed
	}
	return s
}

// transitions returns none for the side without the schedule, so that those of the other side are all added or removed.
func transitions(t *timeline.Timeline) []timeline.Transition {
	if t == nil {
		return nil
	}
	return t.Transitions
}
