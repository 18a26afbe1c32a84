package admission_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

func TestZoneWarnings(t *testing.T) {
	checkCases(t, map[string]findingsCase{
		"UTC":                  {obj: office(inZone("UTC"))},
		"an unknown one":       {obj: office(inZone("Mars/Olympus_Mons")), want: []string{"timezone-unknown spec.timezone"}},
		"an old name":          {obj: office(inZone("US/Eastern")), want: []string{"timezone-name spec.timezone"}},
		"a renamed city":       {obj: office(inZone("Asia/Calcutta")), want: []string{"timezone-name spec.timezone"}},
		"behind UTC":           {obj: office(inZone("Etc/GMT+5")), want: []string{"timezone-name spec.timezone"}},
		"ahead of UTC":         {obj: office(inZone("Etc/GMT-14")), want: []string{"timezone-name spec.timezone"}},
		"winter time for ever": {obj: office(inZone("EST")), want: []string{"timezone-name spec.timezone"}},
	})
}

// abroad is a window that starts at an hour of its own, so that none covers another.
func abroad(zone, start string) v1beta1.Window {
	w := window(start, "17:00", 5, weekdays...)
	w.Timezone = zone
	return w
}

func TestWindowZoneWarnings(t *testing.T) {
	checkCases(t, map[string]findingsCase{
		"the schedule's own": {obj: office(withWindows(abroad("Europe/Berlin", "09:00")))},
		"another":            {obj: office(withWindows(abroad("Asia/Tokyo", "09:00"), abroad("America/New_York", "09:00")))},
		"an old name, reported once": {obj: office(withWindows(abroad("Asia/Tokyo", "09:00"), abroad("US/Eastern", "09:00"), abroad("US/Eastern", "08:00"))), want: []string{
			"timezone-name spec.windows[1].timezone",
			"window-covered spec.windows[1]",
		}},
		"an old name of the schedule's, reported once": {obj: office(inZone("US/Eastern"), withWindows(abroad("US/Eastern", "09:00"))), want: []string{"timezone-name spec.timezone"}},
		"an unknown one": {obj: office(withWindows(abroad("Mars/Olympus_Mons", "09:00"), abroad("", "09:00"), abroad("", "09:00"))), want: []string{"timezone-unknown spec.windows[0].timezone"}},
		"many": {obj: office(withWindows(abroad("US/Eastern", "09:00"), abroad("EST", "09:00"), abroad("Etc/GMT+5", "09:00"), abroad("US/Pacific", "09:00"), abroad("Poland", "09:00"), abroad("Turkey", "09:00"))), want: []string{
			"timezone-name spec.windows[0].timezone",
			"timezone-name spec.windows[1].timezone",
			"timezone-name spec.windows[2].timezone",
			"timezone-name spec.windows[3].timezone",
			"timezone-name spec.windows",
		}},
	})
}

// Each window meets the clock changes of its own zone, and windows of two zones never cover each other.
func TestWindowsOfTwoZones(t *testing.T) {
	early := func(zone string) v1beta1.Window {
		w := window("02:30", "24:00", 5, "Sun")
		w.Timezone = zone
		return w
	}
	checkCases(t, map[string]findingsCase{
		"clock changes":  {obj: office(inZone("Asia/Kolkata"), withWindows(early(""), early("America/New_York"))), want: []string{"clock-change spec.windows[1].start"}},
		"the same hours": {obj: office(inZone("Asia/Kolkata"), withWindows(early("UTC"), early("Asia/Tokyo")))},
		"the end of a day whose midnight is skipped": {obj: office(withWindows(abroadUntil("Africa/Cairo", "24:00"))), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"a midnight that is skipped":                 {obj: office(withWindows(abroadUntil("Africa/Cairo", "00:00"))), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), want: []string{"clock-change spec.windows[0].end"}},
	})
}

// abroadUntil is a Thursday evening: clocks in Cairo go forward in the night to a Friday.
func abroadUntil(zone, end string) v1beta1.Window {
	w := window("18:00", end, 5, "Thu")
	w.Timezone = zone
	return w
}
