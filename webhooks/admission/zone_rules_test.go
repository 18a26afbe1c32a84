package admission_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

func TestZoneWarnings(t *testing.T) {
	checkWarnings(t, map[string]warningCase{
		"UTC": {obj: office(inZone("UTC"))},
		"an unknown one": {obj: office(inZone("Mars/Olympus_Mons")), want: []string{
			"spec.timezone: the time zone database of Kyklos has no Mars/Olympus_Mons: defaultReplicas apply at all times"}},
		"an old name": {obj: office(inZone("US/Eastern")), want: []string{
			"spec.timezone: US/Eastern is an old name that is kept for old programs: use America/New_York"}},
		"a renamed city": {obj: office(inZone("Asia/Calcutta")), want: []string{
			"spec.timezone: Asia/Calcutta is an old name that is kept for old programs: use Asia/Kolkata"}},
		"behind UTC": {obj: office(inZone("Etc/GMT+5")), want: []string{
			"spec.timezone: Etc/GMT+5 is 5 h behind UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin"}},
		"ahead of UTC": {obj: office(inZone("Etc/GMT-14")), want: []string{
			"spec.timezone: Etc/GMT-14 is 14 h ahead of UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin"}},
		"winter time for ever": {obj: office(inZone("EST")), want: []string{
			"spec.timezone: EST is UTC-05:00 all year, without daylight saving time: to follow the clocks of a place, use its zone, such as America/New_York"}},
	})
}

// abroad is a window that starts at an hour of its own, so that none covers another.
func abroad(zone, start string) v1beta1.Window {
	w := window(start, "17:00", 5, weekdays...)
	w.Timezone = zone
	return w
}

func TestWindowZoneWarnings(t *testing.T) {
	checkWarnings(t, map[string]warningCase{
		"the schedule's own": {obj: office(withWindows(abroad("Europe/Berlin", "09:00")))},
		"another":            {obj: office(withWindows(abroad("Asia/Tokyo", "09:00"), abroad("America/New_York", "09:00")))},
		"an old name, told once": {obj: office(withWindows(abroad("Asia/Tokyo", "09:00"), abroad("US/Eastern", "09:00"), abroad("US/Eastern", "08:00"))), want: []string{
			"spec.windows[1].timezone: US/Eastern is an old name that is kept for old programs: use America/New_York",
			"spec.windows[1] (Mon-Fri 09:00-17:00 US/Eastern) never takes effect: spec.windows[2] (Mon-Fri 08:00-17:00) covers all of it, and of the windows that cover a moment the last in the list decides"}},
		"an old name of the schedule's, told once": {obj: office(inZone("US/Eastern"), withWindows(abroad("US/Eastern", "09:00"))), want: []string{
			"spec.timezone: US/Eastern is an old name that is kept for old programs: use America/New_York"}},
		"an unknown one": {obj: office(withWindows(abroad("Mars/Olympus_Mons", "09:00"), abroad("", "09:00"), abroad("", "09:00"))), want: []string{
			"spec.windows[0].timezone: the time zone database of Kyklos has no Mars/Olympus_Mons: windows of this zone are left out"}},
		"many": {obj: office(withWindows(abroad("US/Eastern", "09:00"), abroad("EST", "09:00"), abroad("Etc/GMT+5", "09:00"), abroad("US/Pacific", "09:00"), abroad("Poland", "09:00"), abroad("Turkey", "09:00"))), want: []string{
			"spec.windows[0].timezone: US/Eastern is an old name that is kept for old programs: use America/New_York",
			"spec.windows[1].timezone: EST is UTC-05:00 all year, without daylight saving time: to follow the clocks of a place, use its zone, such as America/New_York",
			"spec.windows[2].timezone: Etc/GMT+5 is 5 h behind UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin",
			"spec.windows[3].timezone: US/Pacific is an old name that is kept for old programs: use America/Los_Angeles",
			"spec.windows: 2 more time zones have old or doubtful names"}},
	})
}

// Each window meets the clock changes of its own zone, and windows of two zones never cover each other.
func TestWindowsOfTwoZones(t *testing.T) {
	early := func(zone string) v1beta1.Window {
		w := window("02:30", "24:00", 5, "Sun")
		w.Timezone = zone
		return w
	}
	checkWarnings(t, map[string]warningCase{
		"clock changes": {obj: office(inZone("Asia/Kolkata"), withWindows(early(""), early("America/New_York"))), want: []string{
			"spec.windows[1].start 02:30 does not exist on 2027-03-14 in America/New_York (the clocks go forward from 02:00 to 03:00): the window starts at 03:00"}},
		"the same hours": {obj: office(inZone("Asia/Kolkata"), withWindows(early("UTC"), early("Asia/Tokyo")))},
		"the end of a day whose midnight is skipped": {obj: office(withWindows(abroadUntil("Africa/Cairo", "24:00"))), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"a midnight that is skipped": {obj: office(withWindows(abroadUntil("Africa/Cairo", "00:00"))), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), want: []string{
			"spec.windows[0].end 00:00 does not exist on 2026-04-24 in Africa/Cairo (the clocks go forward from 00:00 to 01:00): the window ends at 01:00"}},
	})
}

// abroadUntil is a Thursday evening: clocks in Cairo go forward in the night to a Friday.
func abroadUntil(zone, end string) v1beta1.Window {
	w := window("18:00", end, 5, "Thu")
	w.Timezone = zone
	return w
}
