package timecalc_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// The contract of the engine's functions, scenario by scenario: R2, T4, R9, R3.

func timeAt(unix int64, zone *time.Location) time.Time { return time.Unix(unix, 0).In(zone) }

// clock reads "2006-01-02 15:04" in a zone. The times used here are neither skipped nor repeated.
func clock(t testing.TB, zone *time.Location, text string) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const daily = "Mon,Tue,Wed,Thu,Fri,Sat,Sun"

func TestComputeEffectiveReplicas(t *testing.T) {
	office := mustWindow(t, daily, "09:00", "17:00", 10)
	night := mustWindow(t, daily, "22:00", "02:00", 5)
	friday := mustWindow(t, "Fri", "22:00", "02:00", 6)
	lunch := mustWindow(t, daily, "12:00", "13:00", 20)
	tests := []struct {
		name    string
		windows []timecalc.TimeWindow
		at      string // 2026-06-12 is a Friday
		want    int32
	}{
		{"in window", []timecalc.TimeWindow{office}, "2026-06-12 10:00", 10},
		{"out of window", []timecalc.TimeWindow{office}, "2026-06-12 20:00", 3},
		{"start is inclusive", []timecalc.TimeWindow{office}, "2026-06-12 09:00", 10},
		{"end is exclusive", []timecalc.TimeWindow{office}, "2026-06-12 17:00", 3},
		{"cross-midnight, before it", []timecalc.TimeWindow{night}, "2026-06-12 23:00", 5},
		{"cross-midnight, after it", []timecalc.TimeWindow{night}, "2026-06-12 01:00", 5},
		{"cross-midnight, out", []timecalc.TimeWindow{night}, "2026-06-12 03:00", 3},
		{"overlap, last wins", []timecalc.TimeWindow{office, lunch}, "2026-06-12 12:30", 20},
		{"overlap, last wins in the other order", []timecalc.TimeWindow{lunch, office}, "2026-06-12 12:30", 10},
		{"no windows", nil, "2026-06-12 12:30", 3},
		{"Friday night on Friday", []timecalc.TimeWindow{friday}, "2026-06-12 23:00", 6},
		{"Friday night on Saturday morning", []timecalc.TimeWindow{friday}, "2026-06-13 01:00", 6},
		{"Friday night not on Friday morning (T2)", []timecalc.TimeWindow{friday}, "2026-06-12 01:00", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := clock(t, mustZone(t, "Europe/Berlin"), tt.at)
			if got := timecalc.ComputeEffectiveReplicas(tt.windows, 3, at); got != tt.want {
				t.Errorf("got %d replicas, want %d", got, tt.want)
			}
		})
	}
}

func TestComputeNextBoundary(t *testing.T) {
	office := mustWindow(t, daily, "09:00", "17:00", 10)
	late := mustWindow(t, daily, "17:00", "20:00", 10)
	night := mustWindow(t, daily, "22:00", "02:00", 5)
	monday := mustWindow(t, "Mon", "09:00", "17:00", 10)
	tests := []struct {
		name     string
		windows  []timecalc.TimeWindow
		at, want string
	}{
		{"in window", []timecalc.TimeWindow{office}, "2026-06-12 14:00", "2026-06-12 17:00"},
		{"out of window", []timecalc.TimeWindow{office}, "2026-06-12 20:00", "2026-06-13 09:00"},
		{"cross-midnight", []timecalc.TimeWindow{night}, "2026-06-12 23:00", "2026-06-13 02:00"},
		{"several windows", []timecalc.TimeWindow{night, office}, "2026-06-12 14:00", "2026-06-12 17:00"},
		{"no windows", nil, "2026-06-12 14:00", "2026-06-13 00:00"},
		{"strictly after", []timecalc.TimeWindow{office}, "2026-06-12 17:00", "2026-06-13 09:00"},
		{"abutting, same replicas", []timecalc.TimeWindow{office, late}, "2026-06-12 14:00", "2026-06-12 17:00"},
		{"exactly 24 hours ahead counts", []timecalc.TimeWindow{monday}, "2026-06-14 09:00", "2026-06-15 09:00"},
		{"more than 24 hours ahead does not", []timecalc.TimeWindow{monday}, "2026-06-14 08:59", "2026-06-15 00:00"},
		{"a 25-hour day is cut at 24 hours", nil, "2026-10-25 00:00", "2026-10-25 23:00"},
		{"a 23-hour day is not", nil, "2026-03-29 00:00", "2026-03-30 00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zone := mustZone(t, "Europe/Berlin")
			got := timecalc.ComputeNextBoundary(tt.windows, clock(t, zone, tt.at))
			if want := clock(t, zone, tt.want); !got.Equal(want) || got.Location() != zone {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestApplyGracePeriod(t *testing.T) {
	now := time.Date(2026, 6, 12, 17, 0, 0, 0, time.UTC)
	at := func(seconds int) *time.Time {
		expiry := now.Add(time.Duration(seconds) * time.Second)
		return &expiry
	}
	tests := []struct {
		name                     string
		previous, desired, grace int32
		expiry                   *time.Time
		want                     int32
		wantExpiry               *time.Time
	}{
		{"scale-up", 3, 10, 300, nil, 10, nil},
		{"no change", 3, 3, 300, nil, 3, nil},
		{"scale-down starts grace", 10, 3, 300, nil, 10, at(300)},
		{"scale-down within grace", 10, 3, 300, at(60), 10, at(60)},
		{"a further decrease keeps the expiry (B2)", 10, 1, 300, at(60), 10, at(60)},
		{"grace expired", 10, 3, 300, at(-1), 3, nil},
		{"grace expires now", 10, 3, 300, at(0), 3, nil},
		{"scale-up during grace", 3, 10, 300, at(60), 10, nil},
		{"back to the same during grace", 10, 10, 300, at(60), 10, nil},
		{"grace disabled", 10, 3, 0, nil, 3, nil},
		{"grace disabled while it runs", 10, 3, 0, at(60), 3, nil},
		{"the longest grace does not overflow", 10, 3, 1<<31 - 1, nil, 10, at(1<<31 - 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, expiry := timecalc.ApplyGracePeriod(tt.previous, tt.desired, tt.grace, tt.expiry, now)
			if got != tt.want {
				t.Errorf("got %d replicas, want %d", got, tt.want)
			}
			if (expiry == nil) != (tt.wantExpiry == nil) || expiry != nil && !expiry.Equal(*tt.wantExpiry) {
				t.Errorf("got expiry %v, want %v", expiry, tt.wantExpiry)
			}
		})
	}
}

func TestEvaluateHoliday(t *testing.T) {
	windows := []timecalc.TimeWindow{
		mustWindow(t, daily, "09:00", "17:00", 10), mustWindow(t, daily, "12:00", "13:00", 20), mustWindow(t, daily, "22:00", "02:00", 5),
	}
	number := func(n int32) *int32 { return &n }
	tests := []struct {
		name, date, mode string
		windows          []timecalc.TimeWindow
		want             bool
		override         *int32
	}{
		{"not a holiday", "2026-12-24", timecalc.HolidayClosed, windows, false, nil},
		{"ignore", "2026-12-25", timecalc.HolidayIgnore, windows, true, nil},
		{"no mode", "2026-12-25", "", windows, true, nil},
		{"closed", "2026-12-25", timecalc.HolidayClosed, windows, true, number(3)},
		{"open", "2026-12-25", timecalc.HolidayOpen, windows, true, number(20)},
		{"open without windows", "2026-12-25", timecalc.HolidayOpen, nil, true, number(3)},
		{"a date that is listed as false", "2026-12-26", timecalc.HolidayClosed, windows, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dates := map[string]bool{"2026-12-25": true, "2026-12-26": false}
			got, override := timecalc.EvaluateHoliday(dates, tt.date, tt.mode, tt.windows, 3)
			if got != tt.want || (override == nil) != (tt.override == nil) || override != nil && *override != *tt.override {
				t.Errorf("got %t, %v; want %t, %v", got, override, tt.want, tt.override)
			}
		})
	}
	if is, override := timecalc.EvaluateHoliday(nil, "2026-12-25", timecalc.HolidayOpen, windows, 3); is || override != nil {
		t.Error("without dates there are no holidays")
	}
}
