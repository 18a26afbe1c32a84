package timecalc_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/timecalc"
)

var update = flag.Bool("update", false, "rewrite testdata and the tables of docs/semantics.md")

// A scenario is a schedule and a piece of time. Its golden file is what a scaler would do, wake-up by wake-up.
type scenario struct {
	name, title, zone, from, until string
	windows                        []spec
	abroad                         []string // a zone for each window, if any window has its own
	defaults, grace                int32
	mode                           string
	holidays                       []string
}

var officeDays = []string{"Mon", "Tue", "Wed", "Thu", "Fri"}

var scenarios = []scenario{
	{
		name: "ordinary-week", title: "An ordinary week", zone: "Europe/Berlin", from: "2026-06-08 00:00", until: "2026-06-15 00:00",
		windows: []spec{
			{officeDays, "09:00", "17:00", 10}, {[]string{"Wed"}, "12:00", "14:00", 20}, {[]string{"Fri"}, "22:00", "02:00", 4},
		},
		defaults: 1,
	},
	{
		name: "spring-night", title: "The clock skips from 02:00 to 03:00", zone: "America/New_York",
		from: "2026-03-07 12:00", until: "2026-03-09 12:00",
		windows:  []spec{{weekdays, "02:30", "04:30", 5}, {weekdays, "22:00", "02:15", 3}},
		defaults: 1,
	},
	{
		name: "autumn-night", title: "The clock shows 01:00 to 02:00 twice", zone: "America/New_York",
		from: "2026-10-31 12:00", until: "2026-11-02 12:00",
		windows:  []spec{{weekdays, "01:30", "04:30", 5}, {weekdays, "22:00", "01:15", 3}},
		defaults: 1,
	},
	{
		name: "holiday-in-a-night-window", title: "A closed holiday begins and ends inside night windows", zone: "Europe/Berlin",
		from: "2026-12-24 12:00", until: "2026-12-26 12:00",
		windows:  []spec{{weekdays, "22:00", "06:00", 8}},
		defaults: 1, mode: timecalc.HolidayClosed, holidays: []string{"2026-12-25"},
	},
	{
		name: "grace-across-a-boundary", title: "A grace period runs across the start of the next window", zone: "Asia/Tokyo",
		from: "2026-06-12 08:00", until: "2026-06-12 23:00",
		windows: []spec{
			{officeDays, "09:00", "12:00", 10}, {officeDays, "12:05", "17:00", 6}, {officeDays, "18:00", "20:00", 12}, {officeDays, "20:03", "21:00", 12},
		},
		defaults: 2, grace: 600,
	},
	{
		name: "follow-the-sun", title: "Windows follow the sun while New York's clock skips from 02:00 to 03:00", zone: "Europe/Berlin",
		from: "2026-03-06 18:00", until: "2026-03-10 00:00",
		windows: []spec{
			{officeDays, "09:00", "17:00", 10}, {officeDays, "09:00", "17:00", 8}, {officeDays, "09:00", "17:00", 6},
			{[]string{"Sun"}, "00:00", "24:00", 2},
		},
		abroad:   []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo", "America/New_York"},
		defaults: 1, mode: timecalc.HolidayClosed, holidays: []string{"2026-03-07"},
	},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			checkGolden(t, filepath.Join("testdata", s.name+".txt"), s.simulate(t))
		})
	}
}

// checkGolden compares text with a file, or with -update writes it.
func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: want -, got +\n%s", path, diff)
	}
}

func (s scenario) calendar(t *testing.T) *timecalc.Calendar {
	t.Helper()
	dates, invalid := timecalc.ParseHolidayDates(s.holidays)
	if invalid != nil {
		t.Fatalf("holidays %v", invalid)
	}
	set := newSchedule(s.windows)
	for i, name := range s.abroad {
		set.windows[i] = set.windows[i].In(mustZone(t, name))
	}
	return &timecalc.Calendar{
		Zone: mustZone(t, s.zone), Windows: set.windows, DefaultReplicas: s.defaults, HolidayMode: s.mode, Holidays: dates,
	}
}

// simulate walks from wake-up to wake-up, keeping what a scaler's status would keep.
func (s scenario) simulate(t *testing.T) string {
	t.Helper()
	c := s.calendar(t)
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nzone %s, default %d", s.title, s.zone, s.defaults)
	if s.mode != "" {
		fmt.Fprintf(&text, ", holidays %s on %s", s.mode, strings.Join(s.holidays, ", "))
	}
	if s.grace > 0 {
		fmt.Fprintf(&text, ", grace %d s", s.grace)
	}
	width := 25
	for _, w := range c.Windows {
		fmt.Fprintf(&text, "\n  %s: %d", w, w.Replicas())
		width = max(width, len(w.String())+1)
	}
	fmt.Fprintf(&text, "\n\n%-27s%-18s%-*s%9s  %s\n", "local", "UTC", width, "window", "replicas", "why")
	now, until := clock(t, c.Zone, s.from), clock(t, c.Zone, s.until)
	replicas := c.At(now).Replicas
	var expiry *time.Time
	var before timecalc.Verdict
	for first := true; now.Before(until); first = false {
		verdict := c.At(now)
		running := expiry
		replicas, expiry = timecalc.ApplyGracePeriod(replicas, verdict.Replicas, s.grace, expiry, now)
		why := reason(first, before, verdict, running, expiry, now)
		window := "none (" + c.Label(verdict) + ")"
		if verdict.Window >= 0 {
			window = c.Windows[verdict.Window].String()
		}
		fmt.Fprintf(&text, "%-27s%-18s%-*s%9d  %s\n",
			now.Format("Mon 2006-01-02 15:04 -0700"), now.UTC().Format("01-02 15:04"), width, window, replicas, why)
		before, now = verdict, c.NextWakeUp(now, expiry)
	}
	return text.String()
}

// reason describes what changed between two wake-ups.
func reason(first bool, before, now timecalc.Verdict, running, expiry *time.Time, at time.Time) string {
	var why []string
	switch {
	case first:
		why = append(why, "the story begins")
	case now.Override != before.Override && now.Override:
		why = append(why, "the holiday begins")
	case now.Override != before.Override:
		why = append(why, "the holiday is over")
	case now.Window >= 0 && before.Window < 0:
		why = append(why, "a window begins")
	case now.Window != before.Window && now.Window >= 0:
		why = append(why, "another window decides")
	case now.Window != before.Window:
		why = append(why, "the window ends")
	case running == nil || at.Before(*running):
		why = append(why, "nothing changes")
	}
	switch {
	case running == nil && expiry != nil:
		why = append(why, fmt.Sprintf("%d wanted, grace until %s", now.Replicas, expiry.In(at.Location()).Format("15:04")))
	case running != nil && expiry == nil && at.Before(*running):
		why = append(why, "grace is cancelled")
	case running != nil && expiry == nil:
		why = append(why, "grace is over")
	case expiry != nil:
		why = append(why, "grace goes on")
	}
	return strings.Join(why, "; ")
}
