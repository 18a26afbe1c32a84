package timecalc

import (
	"slices"
	"time"
)

// The values of spec.holidays.mode (R3). An empty or unknown mode is treated as HolidayIgnore.
const (
	HolidayIgnore = "ignore"
	HolidayClosed = "treat-as-closed"
	HolidayOpen   = "treat-as-open"
)

// EvaluateHoliday reports whether localDate (YYYY-MM-DD in the schedule's zone) is a holiday, and the
// replicas that then replace window matching, or nil when the windows decide as usual (R3).
// A closed holiday asks for defaultReplicas; an open one for the largest number any window has, or
// defaultReplicas without windows. Zero windows do not count.
func EvaluateHoliday(holidayDates map[string]bool, localDate string, mode string, windows []TimeWindow, defaultReplicas int32) (isHoliday bool, overrideReplicas *int32) {
	if !holidayDates[localDate] {
		return false, nil
	}
	if replicas, ok := holidayReplicas(mode, windows, defaultReplicas); ok {
		return true, &replicas
	}
	return true, nil
}

// holidayReplicas returns the replicas a holiday asks for, and false when mode leaves it to the windows.
func holidayReplicas(mode string, windows []TimeWindow, defaultReplicas int32) (int32, bool) {
	switch mode {
	case HolidayClosed:
		return defaultReplicas, true
	case HolidayOpen:
		most, found := defaultReplicas, false
		for _, w := range windows {
			if w.days == 0 { // the zero window covers nothing: one that could not be read
				continue
			}
			if !found || w.replicas > most {
				most, found = w.replicas, true
			}
		}
		return most, true
	default:
		return 0, false
	}
}

// ParseHolidayDates sorts the keys of a holiday ConfigMap into real dates written YYYY-MM-DD and the
// rest (B6). invalid is sorted, so that a condition that names its entries does not flap.
func ParseHolidayDates(keys []string) (dates map[string]bool, invalid []string) {
	dates = make(map[string]bool, len(keys))
	for _, key := range keys {
		if _, err := time.Parse(time.DateOnly, key); err != nil {
			invalid = append(invalid, key)
			continue
		}
		dates[key] = true
	}
	slices.Sort(invalid)
	return dates, invalid
}
