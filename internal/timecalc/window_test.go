package timecalc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/timecalc"
)

func mustWindow(t testing.TB, days, start, end string, replicas int32) timecalc.TimeWindow {
	t.Helper()
	w, err := timecalc.ParseWindow(strings.Split(days, ","), start, end, replicas)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestParseWindowReadsBack(t *testing.T) {
	w := mustWindow(t, "Wed,Mon,Wed", "22:05", "02:30", 7)
	if got := w.Days(); !slices.Equal(got, []string{"Mon", "Wed"}) {
		t.Errorf("Days() = %v, want Mon and Wed once, in the order of the week", got)
	}
	if w.Start() != "22:05" || w.End() != "02:30" || w.Replicas() != 7 || !w.CrossesMidnight() {
		t.Errorf("got %s-%s, %d replicas, crosses midnight: %t", w.Start(), w.End(), w.Replicas(), w.CrossesMidnight())
	}
	if w.Zone() != nil || w.Name() != "" {
		t.Errorf("got the zone %v and the name %q out of nowhere", w.Zone(), w.Name())
	}
	if w != mustWindow(t, "Mon,Wed", "22:05", "02:30", 7) {
		t.Error("the same window written in another order is not ==")
	}
	if mustWindow(t, "Mon", "09:00", "17:00", 1).CrossesMidnight() {
		t.Error("09:00-17:00 does not cross midnight")
	}
	if day := mustWindow(t, "Mon", "00:00", "24:00", 1); day.CrossesMidnight() || day.End() != "24:00" {
		t.Errorf("a whole day ends at %s, crosses midnight: %t", day.End(), day.CrossesMidnight())
	}
}

func TestZonesAndNamesAreTheirOwn(t *testing.T) {
	tokyo := mustZone(t, "Asia/Tokyo")
	plain := mustWindow(t, "Mon", "09:00", "17:00", 1)
	w := plain.In(tokyo).Named("Tokyo office")
	if w.Zone() != tokyo || w.Name() != "Tokyo office" || w.String() != "Mon 09:00-17:00 Asia/Tokyo" {
		t.Errorf("got %v in %v, named %q", w, w.Zone(), w.Name())
	}
	if plain.Zone() != nil || plain.Name() != "" || w.In(nil).Named("") != plain {
		t.Errorf("In and Named change the window they are asked of: %v, or cannot be undone: %v", plain, w.In(nil).Named(""))
	}
}

func TestWindowString(t *testing.T) {
	for want, days := range map[string]string{
		"Mon-Fri 09:00-17:00":         "Mon,Tue,Wed,Thu,Fri",
		"Sat,Sun 09:00-17:00":         "Sun,Sat",
		"daily 09:00-17:00":           "Mon,Tue,Wed,Thu,Fri,Sat,Sun",
		"Mon 09:00-17:00":             "Mon",
		"Mon,Wed-Fri,Sun 09:00-17:00": "Mon,Wed,Thu,Fri,Sun",
		"Tue,Thu-Sun 09:00-17:00":     "Tue,Thu,Fri,Sat,Sun",
	} {
		if got := mustWindow(t, days, "09:00", "17:00", 1).String(); got != want {
			t.Errorf("%s: String() = %q, want %q", days, got, want)
		}
	}
}

func TestParseWindowRefuses(t *testing.T) {
	workdays := []string{"Mon", "Fri"}
	tests := []struct {
		name       string
		days       []string
		start, end string
		replicas   int32
		want       map[string]string // field: part of the detail
	}{
		{"no days", nil, "09:00", "17:00", 1, map[string]string{"days": "at least one day"}},
		{"long day name", []string{"Mon", "Tuesday"}, "09:00", "17:00", 1, map[string]string{"days[1]": `"Tuesday" is not a day: use Mon`}},
		{"lower case day", []string{"mon"}, "09:00", "17:00", 1, map[string]string{"days[0]": `"mon"`}},
		{"equal edges", workdays, "09:00", "09:00", 1, map[string]string{"end": "start must not equal end (both are 09:00): a whole day is 00:00-24:00"}},
		{"short start", workdays, "9:00", "17:00", 1, map[string]string{"start": `"9:00" is not a time of day: use HH:MM`}},
		{"start at 24:00", workdays, "24:00", "09:00", 1, map[string]string{"start": `"24:00" is not a time of day: use HH:MM from 00:00 to 23:59`}},
		{"after 24:00", workdays, "09:00", "24:01", 1, map[string]string{"end": `"24:01" is not a time of day: use HH:MM from 00:00 to 24:00`}},
		{"two ends of the day", workdays, "24:00", "24:00", 1, map[string]string{"start": `"24:00"`}},
		{"minute 60", workdays, "09:60", "17:00", 1, map[string]string{"start": `"09:60"`}},
		{"no colon", workdays, "09.00", "17:00", 1, map[string]string{"start": `"09.00"`}},
		{"wide digits", workdays, "٠٩:00", "17:00", 1, map[string]string{"start": "HH:MM"}},
		{"sign", workdays, "+9:00", "17:00", 1, map[string]string{"start": "HH:MM"}},
		{"negative replicas", workdays, "09:00", "17:00", -1, map[string]string{"replicas": "-1 is negative: must be 0 or more"}},
		{
			"everything at once", []string{"Someday"}, "", "25:00", -3,
			map[string]string{"days[0]": "Someday", "start": `""`, "end": "25:00", "replicas": "-3"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := timecalc.ParseWindow(tt.days, tt.start, tt.end, tt.replicas)
			if w != (timecalc.TimeWindow{}) {
				t.Errorf("got the window %v beside the error", w)
			}
			got := fieldErrors(err)
			if len(got) != len(tt.want) {
				t.Fatalf("got %v, want errors for %v", err, tt.want)
			}
			for _, e := range got {
				if part, ok := tt.want[e.Field]; !ok || !strings.Contains(e.Detail, part) {
					t.Errorf("%v: want %v", e, tt.want)
				}
			}
		})
	}
}

// fieldErrors takes a ParseWindow error apart, the way its callers do.
func fieldErrors(err error) []*timecalc.FieldError {
	var all []*timecalc.FieldError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, fieldErrors(e)...)
		}
		return all
	}
	var one *timecalc.FieldError
	if errors.As(err, &one) {
		all = append(all, one)
	}
	return all
}

func TestZeroWindowCoversNothing(t *testing.T) {
	s := stretch{from: 0, to: 7 * 24 * 3600, zone: mustZone(t, "UTC")}
	for i, tl := 0, observe(s); i < tl.count(); i++ {
		if got := timecalc.ComputeEffectiveReplicas([]timecalc.TimeWindow{{}}, 3, timeAt(tl.unix(i), tl.zone)); got != 3 {
			t.Fatalf("the zero window covers minute %d of the week", i)
		}
	}
}
