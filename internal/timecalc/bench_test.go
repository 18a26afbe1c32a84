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

// benchInstants are an ordinary moment, one before a weekend, and one on the eve of a clock change.
func benchInstants(tb testing.TB, zone *time.Location) []time.Time {
	return []time.Time{
		clock(tb, zone, "2026-07-08 07:30"), clock(tb, zone, "2026-07-10 20:00"), clock(tb, zone, "2026-03-07 21:00"),
	}
}

// BenchmarkEvaluateAndNext asks on a working day. A zone remembers the span of constant offset of the
// moment it was loaded: "this-season" lies in it, "other-season" pays for working out the zone's rule.
func BenchmarkEvaluateAndNext(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		c := officeCalendar(b, n)
		now := time.Now().In(c.Zone)
		for name, at := range map[string]time.Time{"this-season": now, "other-season": now.AddDate(0, 6, 0)} {
			b.Run(strconv.Itoa(n)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.At(at)
					c.NextBoundary(at)
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
			for _, calendar := range []*timecalc.Calendar{c, &closed} {
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
