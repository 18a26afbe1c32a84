package timecalc_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

func berlin(t *testing.T, local string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation(time.DateTime, local, zone)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func parsed(t *testing.T, days []string, start, end string, replicas int32) timecalc.TimeWindow {
	t.Helper()
	w, err := timecalc.ParseWindow(days, start, end, replicas)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Days without windows have no edge: what is next is the same all through them.
func TestNextEdge(t *testing.T) {
	c := timecalc.Calendar{Zone: berlin(t, "2026-01-01 00:00:00").Location(), Windows: []timecalc.TimeWindow{parsed(t, weekdays[:5], "09:00", "17:00", 10)}}
	for now, want := range map[string]string{
		"2026-11-20 16:59:59": "2026-11-20 17:00:00", // Friday
		"2026-11-20 17:00:00": "2026-11-23 09:00:00",
		"2026-11-21 00:00:00": "2026-11-23 09:00:00",
		"2026-11-22 23:59:59": "2026-11-23 09:00:00",
		"2026-03-28 12:00:00": "2026-03-30 09:00:00", // the clock goes forward
	} {
		if got := c.NextEdge(berlin(t, now)).Format(time.DateTime); got != want {
			t.Errorf("after %s: %s, want %s", now, got, want)
		}
	}
	always := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	for name, windows := range map[string][]timecalc.TimeWindow{"no windows": nil, "always": {parsed(t, always, "00:00", "24:00", 10)}} {
		c.Windows = windows
		if got := c.NextEdge(berlin(t, "2026-11-20 12:00:00")); !got.IsZero() {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Where a metric decides, its beginning and its end are the changes.
func TestNextChangeWithAMetric(t *testing.T) {
	c := timecalc.Calendar{
		Zone: berlin(t, "2026-01-01 00:00:00").Location(), DefaultReplicas: 2,
		Windows: []timecalc.TimeWindow{parsed(t, weekdays[:5], "09:00", "17:00", 10), parsed(t, weekdays, "12:00", "14:00", 5)},
	}
	f := timecalc.Forecast{GraceSeconds: 300, Count: func(v timecalc.Verdict) (int32, bool) { return v.Replicas, v.Window != 0 }}
	for name, tc := range map[string]struct {
		now, want string
		effective int32
		replicas  int32 // 0: not known
	}{
		"it begins":                        {"2026-11-23 08:00:00", "2026-11-23 09:00:00", 2, 0},
		"it ends with more":                {"2026-11-23 10:00:00", "2026-11-23 12:00:00", 3, 5},
		"it ends with as many":             {"2026-11-23 10:00:00", "2026-11-23 12:00:00", 5, 5},
		"it ends with fewer, after grace":  {"2026-11-23 10:00:00", "2026-11-23 12:05:00", 8, 5},
		"it begins again":                  {"2026-11-23 13:00:00", "2026-11-23 14:00:00", 5, 0},
		"grace, and none before it begins": {"2026-11-23 17:00:00", "2026-11-23 17:05:00", 7, 2},
	} {
		f.Effective, f.GraceExpiry = tc.effective, nil
		now := berlin(t, tc.now)
		if name == "grace, and none before it begins" {
			expiry := now.Add(5 * time.Minute)
			f.GraceExpiry = &expiry
		}
		got, found := c.NextChange(now, f)
		if !found || got.Time.Format(time.DateTime) != tc.want || got.Replicas != tc.replicas || got.Known != (tc.replicas > 0) {
			t.Errorf("%s: got %+v %t, want %s to %d", name, got, found, tc.want, tc.replicas)
		}
	}
	c.Windows = nil
	f.Effective = 2
	if got, found := c.NextChange(berlin(t, "2026-11-23 08:00:00"), f); found {
		t.Errorf("without windows: %+v", got)
	}
}
