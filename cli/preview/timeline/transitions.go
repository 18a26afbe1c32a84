package timeline

import (
	"slices"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

func (t *Timeline) transition(before, after Segment) Transition {
	tr := Transition{Time: after.Start, From: before.Replicas, To: after.Replicas, Window: after.Window}
	switch {
	case after.Override && !before.Override:
		tr.Reason, tr.Holiday = HolidayStarted, after.Holiday
		return tr
	case before.Override && !after.Override:
		tr.Reason, tr.Holiday = HolidayEnded, before.Holiday
		return tr
	case t.byClockChange(before.Index, after.Index, after.Start):
		tr.Reason = ClockChange
	case after.Index >= 0:
		tr.Reason = WindowEntered
	default:
		tr.Reason = WindowLeft
	}
	if after.Index < before.Index {
		tr.Left = before.Window
	}
	return tr
}

// byClockChange reports whether a clock change is why another window decides. The last window that covers an instant
// decides, so the greater index is the window that began or ended. The clock change is the reason if that window would have
// done neither at this instant under the old offset alone, nor under the new one alone.
func (t *Timeline) byClockChange(before, after int, at time.Time) bool {
	calendar := &t.Scaler.Calendar
	index := max(before, after)
	change, changed := offsetChange(at.In(zoneOf(calendar, index)))
	if !changed {
		return false
	}
	window := []timecalc.TimeWindow{calendar.Windows[index].In(nil)}
	covers := func(at time.Time, offset time.Duration) bool {
		return timecalc.ActiveWindow(window, at.In(time.FixedZone("", int(offset/time.Second)))) == 0
	}
	began := after > before
	return covers(at, change.Before) != began && covers(at.Add(-1), change.After) == began
}

func zoneOf(calendar *timecalc.Calendar, window int) *time.Location {
	if zone := calendar.Windows[window].Zone(); zone != nil {
		return zone
	}
	return calendar.Zone
}

// addGracePeriods fills in GraceUntil and Kept. At the start of the timeline no grace period runs, except one in State. One that runs at
// its end may be cancelled later.
func (t *Timeline) addGracePeriods() {
	kept, expiry := t.runningGracePeriod()
	held := 0 // the count kept is in effect since this transition
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		if expiry == nil || tr.Time.After(*expiry) { // as it ends, what is asked for then is due
			kept, held, expiry = tr.From, i, nil
		}
		kept, expiry = timecalc.ApplyGracePeriod(kept, tr.To, t.Scaler.Spec.GracePeriodSeconds, expiry, tr.Time)
		if expiry != nil {
			tr.GraceUntil, tr.Kept = expiry.In(tr.Time.Location()), kept
			continue
		}
		for ; held < i; held++ { // cancelled: the schedule asks for as many again
			t.Transitions[held].GraceUntil = tr.Time
		}
	}
	if expiry == nil {
		return
	}
	beyond := &Timeline{Scaler: t.Scaler, From: t.Until, Until: expiry.In(t.Until.Location())} // empty if it ends before
	beyond.addSegments()
	if i := slices.IndexFunc(beyond.Segments, func(s Segment) bool { return s.Replicas >= kept }); i >= 0 {
		for ; held < len(t.Transitions); held++ {
			t.Transitions[held].GraceUntil = beyond.Segments[i].Start
		}
	}
}

// runningGracePeriod is what a grace period in the cluster keeps at the start of the timeline, and until when; nil if none runs.
func (t *Timeline) runningGracePeriod() (kept int32, expiry *time.Time) {
	state := t.Scaler.State
	if state == nil || state.GracePeriodExpiry == nil || state.EffectiveReplicas == nil {
		return 0, nil
	}
	end := state.GracePeriodExpiry.Time
	if !t.From.Before(end) || t.From.Before(end.Add(-t.Scaler.Grace()).Truncate(time.Second)) || t.Segments[0].Replicas >= *state.EffectiveReplicas {
		return 0, nil // over, not begun, or cancelled
	}
	return *state.EffectiveReplicas, &end
}

// Amount is how far the clock goes forward, negative if it goes back.
func (c Change) Amount() time.Duration { return c.After - c.Before }

// Old is what the clock would show without the change: 02:00 where it continues from 03:00.
func (c Change) Old() time.Time {
	return c.Time.In(time.FixedZone("", int(c.Before/time.Second)))
}

func (t *Timeline) addClockChanges() {
	t.Changes = changes(t.Scaler.Calendar.Zone, t.From, t.Until)
	seen := []string{t.Scaler.Calendar.Zone.String()}
	for i := range t.Scaler.Calendar.Windows {
		zone := zoneOf(&t.Scaler.Calendar, i)
		if !slices.Contains(seen, zone.String()) {
			seen = append(seen, zone.String())
			t.Abroad = append(t.Abroad, changes(zone, t.From, t.Until)...)
		}
	}
	slices.SortStableFunc(t.Abroad, func(a, b Change) int { return a.Time.Compare(b.Time) })
}

// changes are the clock changes of a zone in [from, until).
func changes(zone *time.Location, from, until time.Time) (found []Change) {
	for at := from.In(zone).Add(-1); ; {
		end := timecalc.ZoneEnd(at)
		if end.IsZero() || !end.Before(until) {
			return found
		}
		if change, changed := offsetChange(end); changed {
			found = append(found, change)
		}
		at = end
	}
}

func offsetChange(local time.Time) (_ Change, changed bool) {
	_, after := local.Zone()
	_, before := local.Add(-1).Zone()
	return Change{Time: local, Before: time.Duration(before) * time.Second, After: time.Duration(after) * time.Second}, before != after
}
