package timecalc_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// Whoever edits the holidays' ConfigMap chooses among counts that the schedule has, and no others, whatever the keys are.
func TestHolidaysChooseAmongScheduledCounts(t *testing.T) {
	key := rapid.OneOf(rapid.String(), rapid.StringMatching(`20(24|25|26)-(0[1-9]|1[0-9])-[0-3][0-9]`), rapid.Just("2026-12-25"))
	rapid.Check(t, func(rt *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int32Range(0, 1<<31-1), 0, 5).Draw(rt, "counts")
		var windows []timecalc.TimeWindow
		for _, count := range counts {
			windows = append(windows, mustWindow(t, daily, "09:00", "17:00", count))
		}
		otherwise := rapid.Int32Range(0, 1<<31-1).Draw(rt, "default")
		mode := rapid.SampledFrom([]string{timecalc.HolidayIgnore, timecalc.HolidayClosed, timecalc.HolidayOpen}).Draw(rt, "mode")
		dates, _ := timecalc.ParseHolidayDates(rapid.SliceOf(key).Draw(rt, "keys"))
		_, override := timecalc.EvaluateHoliday(dates, "2026-12-25", mode, windows, otherwise)
		if override != nil && !slices.Contains(append(counts, otherwise), *override) {
			rt.Fatalf("got %d replicas, which the schedule does not have: %v, %d", *override, counts, otherwise)
		}
	})
}
