package timeline

import (
	"slices"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// Amount is how far the clock is put forward, or below 0 back.
func (c Change) Amount() time.Duration { return c.After - c.Before }

// Old is what the clock would show if it had not been changed: 02:00 where it goes on from 03:00.
func (c Change) Old() time.Time {
	return c.Time.In(time.FixedZone("", int(c.Before/time.Second)))
}

// change fills Changes and Abroad.
func (t *Timeline) change() {
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

// changes are those of a zone in [from, until).
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

// offsetChange says how the clock changes at an instant.
func offsetChange(local time.Time) (Change, bool) {
	_, after := local.Zone()
	_, before := local.Add(-1).Zone()
	return Change{Time: local, Before: time.Duration(before) * time.Second, After: time.Duration(after) * time.Second}, before != after
}

func seconds(from, until time.Time) int64 { return int64(until.Sub(from) / time.Second) }
