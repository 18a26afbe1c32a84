package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

// shows reports whether the clock of a zone shows a time of a window: the rule of docs/semantics.md, read off the clock.
func shows(w v1beta1.Window, local time.Time) bool {
	day, yesterday := local.Format("Mon"), string(week[(int(local.Weekday())+5)%7])
	clock, listed := local.Format("15:04"), func(name string) bool {
		for _, d := range w.Days {
			if string(d) == name {
				return true
			}
		}
		return false
	}
	if w.Start < w.End {
		return listed(day) && clock >= w.Start && clock < w.End
	}
	return listed(day) && clock >= w.Start || listed(yesterday) && clock < w.End
}

// Each window's state is what the clock says, minute by minute of the local date.
func TestWindowsAgainstTheClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tws := anyScaler(t)
		zone, _ := time.LoadLocation(tws.Spec.Timezone)
		near := rapid.SampledFrom([]string{"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z", "2026-06-10T00:00:00Z"}).Draw(t, "near")
		around, _ := time.Parse(time.RFC3339, near)
		at := around.Add(time.Duration(rapid.IntRange(-72*60, 72*60).Draw(t, "minute")) * time.Minute).In(zone)
		holidays, most := anyHolidays(t, tws, at)
		e := explain.Explain(tws, holidays, nil, at)
		decides, want := -1, int32(2)
		for i, w := range tws.Spec.Windows {
			if shows(w, at) {
				decides, want = i, w.Replicas.IntVal
			}
		}
		holiday := e.Decider == explain.ByHoliday
		if holiday != (most != nil) {
			t.Fatalf("decided by %s; listed: %v", e.Decider, most != nil)
		}
		if holiday {
			want = *most
		}
		if *e.Replicas != want {
			t.Fatalf("%s asks for %d, want %d", at, *e.Replicas, want)
		}
		for i, w := range tws.Spec.Windows {
			expected := stateOf(w, at, i == decides)
			if holiday && shows(w, at) {
				expected = explain.Holiday
			}
			if got, want := e.Windows[i].State, expected; got != want {
				t.Fatalf("window %d, %v %s-%s, at %s is %s (%s), want %s", i, w.Days, w.Start, w.End, at, got, e.Windows[i].Why, want)
			}
		}
	})
}

// anyHolidays makes the date of an instant a holiday or not, and returns what the schedule then asks for; nil if it is not one.
func anyHolidays(t *rapid.T, tws *v1beta1.TimeWindowScaler, at time.Time) (explain.Holidays, *int32) {
	modes := []v1beta1.HolidayMode{"", v1beta1.HolidayIgnore, v1beta1.HolidayClosed, v1beta1.HolidayOpen}
	mode := rapid.SampledFrom(modes).Draw(t, "mode")
	if mode != "" {
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	}
	date := at.AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "day")).Format(time.DateOnly)
	holidays := explain.Holidays{Dates: map[string]bool{date: true}}
	asks := int32(2)
	if mode == v1beta1.HolidayOpen {
		asks = 0
		for _, w := range tws.Spec.Windows {
			asks = max(asks, w.Replicas.IntVal)
		}
	}
	if date != at.Format(time.DateOnly) || mode == "" || mode == v1beta1.HolidayIgnore {
		return holidays, nil
	}
	return holidays, &asks
}

// stateOf derives the state from each minute of the date.
func stateOf(w v1beta1.Window, at time.Time, decides bool) explain.WindowState {
	date, ended, begins := at.Format(time.DateOnly), false, false
	for minute := -26 * 60; minute <= 26*60; minute++ {
		before, after := at.Add(time.Duration(minute-1)*time.Minute), at.Add(time.Duration(minute)*time.Minute)
		if after.Format(time.DateOnly) != date || shows(w, before) == shows(w, after) {
			continue
		}
		ended = ended || minute <= 0 && shows(w, before)
		begins = begins || minute > 0 && shows(w, after)
	}
	listed := strings.Contains(fmt.Sprint(w.Days), at.Format("Mon"))
	switch {
	case shows(w, at) && decides:
		return explain.Decides
	case shows(w, at):
		return explain.Outranked
	case ended:
		return explain.Ended
	case begins:
		return explain.NotYet
	case !listed:
		return explain.NotToday
	default:
		return explain.Skipped
	}
}

func anyScaler(t *rapid.T) *v1beta1.TimeWindowScaler {
	tws := scaler(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York"}).Draw(t, "zone"))
	for range rapid.IntRange(1, 4).Draw(t, "windows") {
		clock := func(label string) string {
			return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, label), rapid.SampledFrom([]int{0, 15, 30}).Draw(t, label))
		}
		if rapid.Bool().Draw(t, "early") { // where clocks change
			clock = func(label string) string {
				return fmt.Sprintf("0%d:%02d", rapid.IntRange(0, 4).Draw(t, label), rapid.SampledFrom([]int{0, 10, 30, 50}).Draw(t, label))
			}
		}
		first := rapid.IntRange(0, 6).Draw(t, "first day")
		w := window("", week[first:rapid.IntRange(first+1, 7).Draw(t, "last day")], clock("start"), clock("end"), rapid.Int32Range(0, 9).Draw(t, "replicas"))
		if w.Start == w.End {
			w.Start, w.End = "00:00", "24:00"
		}
		tws.Spec.Windows = append(tws.Spec.Windows, w)
	}
	return tws
}
