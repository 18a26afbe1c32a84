package timecalc_test

import (
	"strconv"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// officeCalendar has n weekday windows whose edges lie a minute apart, in a zone with clock changes.
func officeCalendar(tb testing.TB, n int) *timecalc.Calendar {
	c := &timecalc.Calendar{
		Zone: mustZone(tb, "America/New_York"), HolidayMode: timecalc.HolidayIgnore, Holidays: map[string]bool{"2026-12-25": true},
	}
	for i := range n {
		c.Windows = append(c.Windows, mustWindow(tb, "Mon,Tue,Wed,Thu,Fri", clockFaces[8*60+i], clockFaces[17*60+i], int32(i)))
	}
	return c
}

// abroad returns the calendar with its windows in turn in its own zone and in two others.
func abroad(tb testing.TB, c *timecalc.Calendar) *timecalc.Calendar {
	zones := []*time.Location{nil, mustZone(tb, "Europe/Berlin"), mustZone(tb, "Australia/Sydney")}
	scattered := *c
	scattered.Windows = nil
	for i, w := range c.Windows {
		scattered.Windows = append(scattered.Windows, w.In(zones[i%len(zones)]))
	}
	return &scattered
}

// benchInstants are an ordinary moment, one before a weekend, and one on the eve of a clock change.
func benchInstants(tb testing.TB, zone *time.Location) []time.Time {
	return []time.Time{
		clock(tb, zone, "2026-07-08 07:30"), clock(tb, zone, "2026-07-10 20:00"), clock(tb, zone, "2026-03-07 21:00"),
	}
}

// BenchmarkEvaluateAndNext asks on a working day. A zone remembers the span of constant offset of the
// moment it was loaded: "this-season" lies in it, "other-season" pays for working out the zone's rule.
// With "three-zones" the windows are in three zones in turn.
func BenchmarkEvaluateAndNext(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		c := officeCalendar(b, n)
		now := time.Now().In(c.Zone)
		later := now.AddDate(0, 6, 0)
		for _, row := range []struct {
			name string
			c    *timecalc.Calendar
			at   time.Time
		}{
			{"this-season", c, now},
			{"other-season", c, later},
			{"three-zones/this-season", abroad(b, c), now},
			{"three-zones/other-season", abroad(b, c), later},
		} {
			b.Run(strconv.Itoa(n)+"/"+row.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					row.c.At(row.at)
					row.c.NextBoundary(row.at)
				}
			})
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, n := range []int{0, 1, 10, 100} {
		c := officeCalendar(t, n)
		closed := *c
		closed.HolidayMode = timecalc.HolidayClosed
		for _, now := range benchInstants(t, c.Zone) {
			for _, calendar := range []*timecalc.Calendar{c, &closed, abroad(t, c)} {
				got := testing.AllocsPerRun(100, func() {
					calendar.At(now)
					calendar.NextBoundary(now)
					calendar.NextWakeUp(now, &now)
				})
				if got != 0 {
					t.Errorf("%d windows, %s, %v: %v allocations", n, calendar.HolidayMode, now, got)
				}
			}
		}
	}
}
