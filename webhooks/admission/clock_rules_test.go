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
	const (
		forward = "on 2027-03-28 in Europe/Berlin (the clocks go forward from 02:00 to 03:00): the window "
		back    = "on 2027-10-31 in Europe/Berlin (the clocks go back from 03:00 to 02:00): the window "
	)
	checkWarnings(t, map[string]warningCase{
		"outside the changed hours": {obj: office(withWindows(window("03:00", "01:59", 5, daily...)))},
		"a zone without changes":    {obj: office(inZone("Asia/Kolkata"), withWindows(window("02:30", "06:00", 5, daily...)))},
		"on other days":             {obj: office(withWindows(window("02:30", "06:00", 5, weekdays...)))},
		"an invalid window":         {obj: office(withWindows(window("02:30", "6:00", 5, daily...)))},
		"a start": {obj: office(withWindows(window("02:30", "06:00", 5, daily...))), want: []string{
			"spec.windows[0].start 02:30 does not exist " + forward + "starts at 03:00",
			"spec.windows[0].start 02:30 occurs twice " + back + "starts, stops when they go back, and starts again at the second 02:30"}},
		"an end": {obj: office(withWindows(window("22:00", "02:30", 5, daily...))), want: []string{
			"spec.windows[0].end 02:30 does not exist " + forward + "ends at 03:00",
			"spec.windows[0].end 02:30 occurs twice " + back + "ends, resumes when they go back, and ends again at the second 02:30"}},
		"an end on the day after": {obj: office(withWindows(window("22:00", "02:30", 5, "Sat"))), want: []string{
			"spec.windows[0].end 02:30 does not exist " + forward + "ends at 03:00",
			"spec.windows[0].end 02:30 occurs twice " + back + "ends, resumes when they go back, and ends again at the second 02:30"}},
		"a whole window": {obj: office(withWindows(window("02:10", "02:40", 5, daily...))), want: []string{
			"spec.windows[0] (daily 02:10-02:40) does not run on 2027-03-28 in Europe/Berlin: the clocks go forward from 02:00 to 03:00",
			"spec.windows[0] (daily 02:10-02:40) runs twice on 2027-10-31 in Europe/Berlin: the clocks go back from 03:00 to 02:00"}},
		"nearly a whole day": {obj: office(withWindows(window("02:40", "02:10", 5, daily...))), want: []string{
			"spec.windows[0].end 02:10 does not exist " + forward + "runs on without a break",
			"spec.windows[0].end 02:10 occurs twice " + back + "ends both times",
			"spec.windows[0].start 02:40 occurs twice " + back + "starts both times"}},
		"exactly the changed hour": {obj: office(withWindows(window("02:00", "03:00", 5, "Sun"))), want: []string{
			"spec.windows[0] (Sun 02:00-03:00) does not run on 2027-03-28 in Europe/Berlin: the clocks go forward from 02:00 to 03:00"}},
		"all but the changed hour": {obj: office(withWindows(window("03:00", "02:00", 5, "Sat", "Sun"))), want: []string{
			"spec.windows[0].end 02:00 does not exist " + forward + "runs on without a break"}},
		"at midnight": {obj: office(inZone("America/Havana"), withWindows(window("00:00", "08:00", 5, "Sun"))), now: march, want: []string{
			"spec.windows[0].start 00:00 does not exist on 2026-03-08 in America/Havana (the clocks go forward from 00:00 to 01:00): the window starts at 01:00",
			"spec.windows[0].start 00:00 does not exist on 2027-03-14 in America/Havana (the clocks go forward from 00:00 to 01:00): the window starts at 01:00"}},
		"back over midnight": {obj: office(inZone("America/Sao_Paulo"), withWindows(window("23:30", "08:00", 5, "Sat"))), now: time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"spec.windows[0].start 23:30 occurs twice on 2018-02-17 in America/Sao_Paulo (the clocks go back from 24:00 to 23:00): the window starts, stops when they go back, and starts again at the second 23:30"}},
		"a date that never was": {obj: office(inZone("Pacific/Apia"), withWindows(window("09:00", "17:00", 5, "Fri"), window("22:00", "05:00", 5, "Fri"))), now: time.Date(2011, 12, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"spec.windows[0] (Fri 09:00-17:00) does not run on 2011-12-30 in Pacific/Apia: the clocks go forward from 00:00 to 00:00 on 2011-12-31",
			"spec.windows[1].start 22:00 does not exist on 2011-12-30 in Pacific/Apia (the clocks go forward from 00:00 to 00:00 on 2011-12-31): the window starts at 00:00 on 2011-12-31"}},
	})
}

// Thirteen months reach the change that the calendar moves away the most, and no further.
func TestClockChangeHorizon(t *testing.T) {
	obj := office(withWindows(window("02:30", "06:00", 5, "Sun")))
	change := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
	next := "spec.windows[0].start 02:30 does not exist on 2028-03-26 in Europe/Berlin (the clocks go forward from 02:00 to 03:00): the window starts at 03:00"
	this := "spec.windows[0].start 02:30 does not exist on 2027-03-28 in Europe/Berlin (the clocks go forward from 02:00 to 03:00): the window starts at 03:00"
	autumn := "spec.windows[0].start 02:30 occurs twice on 2027-10-31 in Europe/Berlin (the clocks go back from 03:00 to 02:00): the window starts, stops when they go back, and starts again at the second 02:30"
	checkWarnings(t, map[string]warningCase{
		"at the change":   {obj: obj, now: change, want: []string{this, autumn, next}},
		"after it":        {obj: obj, now: change.Add(1), want: []string{autumn, next}},
		"before the next": {obj: office(withWindows(window("02:30", "06:00", 5, "Sun"))), now: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), want: []string{this, autumn}},
	})
}

func TestClockChangeWarningsAreFew(t *testing.T) {
	var windows []v1beta1.Window
	var want []string
	for i := range 5 {
		windows = append(windows, window(fmt.Sprintf("02:%02d", 10+i), "06:00", int32(5-i), "Sun"))
		if i < 4 {
			want = append(want, fmt.Sprintf("spec.windows[%d].start 02:%d does not exist on 2027-03-28 in Europe/Berlin (the clocks go forward from 02:00 to 03:00): the window starts at 03:00", i, 10+i))
		}
	}
	checkWarnings(t, map[string]warningCase{
		"five starts, twice": {obj: office(withWindows(windows...)), want: append(want, "spec.windows: 6 more starts or ends fall into clock changes within 13 months")},
	})
}
