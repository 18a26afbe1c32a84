package timecalc_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

func TestShadowedAndIdenticalWindows(t *testing.T) {
	tests := []struct {
		name      string
		set       []spec
		shadowed  []int
		identical [][2]int
	}{
		{"none", nil, nil, nil},
		{"apart", []spec{{weekdays, "09:00", "12:00", 1}, {weekdays, "13:00", "17:00", 2}}, nil, nil},
		{"inside a later one", []spec{{weekdays, "09:00", "12:00", 1}, {weekdays, "08:00", "17:00", 2}}, []int{0}, nil},
		{"inside an earlier one", []spec{{weekdays, "08:00", "17:00", 1}, {weekdays, "09:00", "12:00", 2}}, nil, nil},
		{"a minute looks out", []spec{{weekdays, "09:00", "12:01", 1}, {weekdays, "08:00", "12:00", 2}}, nil, nil},
		{
			"covered by two together, over midnight",
			[]spec{{[]string{"Sun"}, "22:00", "02:00", 1}, {[]string{"Sun"}, "21:00", "00:00", 2}, {[]string{"Mon"}, "00:00", "02:00", 3}},
			[]int{0}, nil,
		},
		{"same times, other replicas", []spec{{weekdays, "09:00", "12:00", 1}, {weekdays, "09:00", "12:00", 2}}, []int{0}, nil},
		{"identical", []spec{{weekdays, "09:00", "12:00", 1}, {weekdays, "09:00", "12:00", 1}}, nil, [][2]int{{0, 1}}},
		{
			"three identical",
			[]spec{{weekdays, "09:00", "12:00", 1}, {weekdays, "09:00", "12:00", 1}, {weekdays, "09:00", "12:00", 1}},
			nil, [][2]int{{0, 1}, {1, 2}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			windows := newSchedule(tt.set).windows
			if got := timecalc.ShadowedWindows(windows); !slices.Equal(got, tt.shadowed) {
				t.Errorf("ShadowedWindows = %v, want %v", got, tt.shadowed)
			}
			if got := timecalc.IdenticalWindows(windows); !slices.Equal(got, tt.identical) {
				t.Errorf("IdenticalWindows = %v, want %v", got, tt.identical)
			}
		})
	}
}

// TestInspectionAbroad: only windows of one zone, by its name, can be identical or shadow one another.
func TestInspectionAbroad(t *testing.T) {
	tokyo, again, berlin := mustZone(t, "Asia/Tokyo"), mustZone(t, "Asia/Tokyo"), mustZone(t, "Europe/Berlin")
	short, long := spec{weekdays, "09:00", "12:00", 1}, spec{weekdays, "08:00", "17:00", 1}
	tests := []struct {
		name      string
		set       *schedule
		shadowed  []int
		identical [][2]int
	}{
		{"inside one of the same zone, loaded twice", newSchedule([]spec{short, long}).in(tokyo, again), []int{0}, nil},
		{"inside one of another zone", newSchedule([]spec{short, long}).in(tokyo, berlin), nil, nil},
		{"inside one of the schedule's zone", newSchedule([]spec{short, long}).in(tokyo, nil), nil, nil},
		{"two zones in turn", newSchedule([]spec{short, short, long, long}).in(tokyo, nil, berlin, again), []int{0}, nil},
		{"identical in one zone, loaded twice", newSchedule([]spec{short, short}).in(tokyo, again), nil, [][2]int{{0, 1}}},
		{"the same times in two zones", newSchedule([]spec{short, short}).in(tokyo, berlin), nil, nil},
		{"midnight written in two ways", newSchedule([]spec{{weekdays, "18:00", "24:00", 1}, {weekdays, "18:00", "00:00", 1}}), []int{0}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := timecalc.ShadowedWindows(tt.set.windows); !slices.Equal(got, tt.shadowed) {
				t.Errorf("ShadowedWindows = %v, want %v", got, tt.shadowed)
			}
			if got := timecalc.IdenticalWindows(tt.set.windows); !slices.Equal(got, tt.identical) {
				t.Errorf("IdenticalWindows = %v, want %v", got, tt.identical)
			}
		})
	}
	names := []timecalc.TimeWindow{mustWindow(t, "Mon", "09:00", "12:00", 1).Named("a"), mustWindow(t, "Mon", "09:00", "12:00", 1).Named("b")}
	if got := timecalc.IdenticalWindows(names); !slices.Equal(got, [][2]int{{0, 1}}) {
		t.Errorf("windows that differ in their names alone: %v", got)
	}
}

// TestShadowedWindowsAgainstEveryMinute compares with the oracle's table of the week which windows ever win among the
// windows of one zone.
func TestShadowedWindowsAgainstEveryMinute(t *testing.T) {
	tokyo, berlin := mustZone(t, "Asia/Tokyo"), mustZone(t, "Europe/Berlin")
	rapid.Check(t, func(t *rapid.T) {
		set := anyAbroad(nil, tokyo, berlin).Draw(t, "windows")
		wins := make([]bool, len(set.specs))
		for _, zone := range []*time.Location{nil, tokyo, berlin} {
			for weekday := range set.covering {
				for _, covering := range set.covering[weekday] {
					for i := len(wins) - 1; i >= 0; i-- {
						if covering&(1<<i) != 0 && set.zones[i] == zone {
							wins[i] = true
							break
						}
					}
				}
			}
		}
		var want []int
		for i, w := range set.windows {
			if !wins[i] && !slices.Contains(set.windows[i+1:], w) {
				want = append(want, i)
			}
		}
		if got := timecalc.ShadowedWindows(set.windows); !slices.Equal(got, want) {
			t.Fatalf("ShadowedWindows = %v, want %v", got, want)
		}
	})
}
