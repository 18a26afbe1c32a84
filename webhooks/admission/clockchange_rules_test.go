package admission_test

import (
	"fmt"
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

var daily = append(weekdays, "Sat", "Sun")

func TestClockChangeWarnings(t *testing.T) {
	march := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	checkCases(t, map[string]findingsCase{
		"outside the changed hours": {obj: office(withWindows(window("03:00", "01:59", 5, daily...)))},
		"a zone without changes":    {obj: office(inZone("Asia/Kolkata"), withWindows(window("02:30", "06:00", 5, daily...)))},
		"on other days":             {obj: office(withWindows(window("02:30", "06:00", 5, weekdays...)))},
		"an invalid window":         {obj: office(withWindows(window("02:30", "6:00", 5, daily...))), want: []string{"schedule-invalid spec.windows[0].end: Invalid value"}},
		"a start":                   {obj: office(withWindows(window("02:30", "06:00", 5, daily...))), want: []string{"clock-change spec.windows[0].start", "clock-change spec.windows[0].start"}},
		"an end":                    {obj: office(withWindows(window("22:00", "02:30", 5, daily...))), want: []string{"clock-change spec.windows[0].end", "clock-change spec.windows[0].end"}},
		"an end on the day after":   {obj: office(withWindows(window("22:00", "02:30", 5, "Sat"))), want: []string{"clock-change spec.windows[0].end", "clock-change spec.windows[0].end"}},
		"a whole window":            {obj: office(withWindows(window("02:10", "02:40", 5, daily...))), want: []string{"clock-change spec.windows[0]", "clock-change spec.windows[0]"}},
		"nearly a whole day": {obj: office(withWindows(window("02:40", "02:10", 5, daily...))), want: []string{
			"clock-change spec.windows[0].end",
			"clock-change spec.windows[0].end",
			"clock-change spec.windows[0].start",
		}},
		"exactly the changed hour": {obj: office(withWindows(window("02:00", "03:00", 5, "Sun"))), want: []string{"clock-change spec.windows[0]"}},
		"all but the changed hour": {obj: office(withWindows(window("03:00", "02:00", 5, "Sat", "Sun"))), want: []string{"clock-change spec.windows[0].end"}},
		"at midnight": {obj: office(inZone("America/Havana"), withWindows(window("00:00", "08:00", 5, "Sun"))), now: march, want: []string{
			"clock-change spec.windows[0].start",
			"clock-change spec.windows[0].start",
		}},
		"back over midnight": {obj: office(inZone("America/Sao_Paulo"), withWindows(window("23:30", "08:00", 5, "Sat"))), now: time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"clock-change spec.windows[0].start",
		}},
		"a date that never was": {obj: office(inZone("Pacific/Apia"), withWindows(window("09:00", "17:00", 5, "Fri"), window("22:00", "05:00", 5, "Fri"))), now: time.Date(2011, 12, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"clock-change spec.windows[0]",
			"clock-change spec.windows[1].start",
		}},
	})
}

// Thirteen months reach the change that the calendar moves away the most, and no further.
func TestClockChangeHorizon(t *testing.T) {
	obj := office(withWindows(window("02:30", "06:00", 5, "Sun")))
	change := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
	checkCases(t, map[string]findingsCase{
		"at the change": {obj: obj, now: change, want: []string{
			"clock-change spec.windows[0].start",
			"clock-change spec.windows[0].start",
			"clock-change spec.windows[0].start",
		}},
		"after it": {obj: obj, now: change.Add(1), want: []string{"clock-change spec.windows[0].start", "clock-change spec.windows[0].start"}},
		"before the next": {obj: office(withWindows(window("02:30", "06:00", 5, "Sun"))), now: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"clock-change spec.windows[0].start",
			"clock-change spec.windows[0].start",
		}},
	})
}

func TestClockChangeWarningsAreFew(t *testing.T) {
	var windows []v1beta1.Window
	for i := range 5 {
		windows = append(windows, window(fmt.Sprintf("02:%02d", 10+i), "06:00", int32(5-i), "Sun"))
	}
	checkCases(t, map[string]findingsCase{
		"five starts, twice": {obj: office(withWindows(windows...)), want: []string{
			"clock-change spec.windows[0].start",
			"clock-change spec.windows[1].start",
			"clock-change spec.windows[2].start",
			"clock-change spec.windows[3].start",
			"clock-change spec.windows",
		}},
	})
}
