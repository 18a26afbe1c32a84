// Package bench compares Kyklos with what others use. It is a module of its own, so that what it
// compares with does not enter the module of the operator.
package bench

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"kyklos.io/kyklos/internal/timecalc"
	"kyklos.io/kyklos/test/bench"
)

// rounds alternate between the two sides, so that a busy machine slows both; the fastest round counts.
const rounds = 15

// TestEngineAgainstCron measures how long one answer takes: the engine's replicas and next boundary for n
// windows, and the 2n calls of Next that a scheduler on robfig/cron/v3 makes for the same edges (and
// which give no replicas yet). It asserts no duration.
//
// A zone of the Go runtime remembers the span of constant offset in which the program loaded it. Within
// that span a lookup is fast. Outside, it searches the zone's table, or, in the embedded database,
// whose tables end with the last irregular change, works out the rule each time. Hence the first four
// rows. In the last two, the windows are in three zones of the embedded database in turn.
func TestEngineAgainstCron(t *testing.T) {
	machine, err := timecalc.LoadZone("America/New_York")
	must(t, err)
	now := time.Now().UTC().Truncate(time.Hour)
	alone := []*time.Location{embedded(t, "America/New_York")}
	three := []*time.Location{alone[0], embedded(t, "Europe/Berlin"), embedded(t, "Asia/Tokyo")}
	for _, row := range []struct {
		name  string
		zones []*time.Location
		at    time.Time
	}{
		{"machine's zones, this season", []*time.Location{machine}, now},
		{"machine's zones, half a year on", []*time.Location{machine}, now.AddDate(0, 6, 0)},
		{"embedded zones, this season", alone, now},
		{"embedded zones, half a year on", alone, now.AddDate(0, 6, 0)},
		{"three zones, this season", three, now},
		{"three zones, half a year on", three, now.AddDate(0, 6, 0)},
	} {
		for _, n := range []int{1, 10, 100} {
			c, crons := schedules(t, n, row.zones)
			engine, nexts := sideBySide(2000/n,
				func(at time.Time) { c.At(at); c.NextBoundary(at) },
				func(at time.Time) {
					for _, s := range crons {
						s.Next(at)
					}
				}, row.at.In(row.zones[0]))
			bench.Record(t, bench.Figure{
				Area: "engine", What: fmt.Sprintf("%s, windows: %d", row.name, n), Unit: "ns",
				Value: engine, Floor: nexts, Beside: "robfig/cron",
			})
		}
	}
}

// embedded loads a zone from the database of the Go toolchain, as a binary without zoneinfo would.
func embedded(t *testing.T, name string) *time.Location {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	must(t, err)
	defer archive.Close()
	data, err := fs.ReadFile(archive, name)
	must(t, err)
	zone, err := time.LoadLocationFromTZData(name, data)
	must(t, err)
	return zone
}

// schedules makes n weekday windows a minute apart, and a cron schedule for each of their edges. The
// first zone is the calendar's; the windows are in all of them in turn.
func schedules(t *testing.T, n int, zones []*time.Location) (*timecalc.Calendar, []cron.Schedule) {
	t.Helper()
	c := &timecalc.Calendar{Zone: zones[0]}
	var crons []cron.Schedule
	for i := range n {
		zone := zones[i%len(zones)]
		var edges [2]string
		for j, first := range []int{8 * 60, 17 * 60} {
			hour, minute := (first+i)/60, (first+i)%60
			edges[j] = fmt.Sprintf("%02d:%02d", hour, minute)
			s, err := cron.ParseStandard(fmt.Sprintf("%d %d * * 1-5", minute, hour))
			must(t, err)
			s.(*cron.SpecSchedule).Location = zone
			crons = append(crons, s)
		}
		w, err := timecalc.ParseWindow([]string{"Mon", "Tue", "Wed", "Thu", "Fri"}, edges[0], edges[1], 3)
		must(t, err)
		if zone != c.Zone {
			w = w.In(zone)
		}
		c.Windows = append(c.Windows, w)
	}
	return c, crons
}

// sideBySide returns the nanoseconds each side takes per call, over hours all through a week.
func sideBySide(iterations int, a, b func(time.Time), from time.Time) (nanosA, nanosB float64) {
	instants := make([]time.Time, 7*24)
	for i := range instants {
		instants[i] = from.Add(time.Duration(i) * time.Hour)
	}
	measure := func(f func(time.Time), best float64) float64 {
		start := time.Now()
		for i := range iterations {
			f(instants[i*17%len(instants)])
		}
		nanos := float64(time.Since(start).Nanoseconds()) / float64(iterations)
		if best == 0 || nanos < best {
			return nanos
		}
		return best
	}
	for range rounds {
		nanosA, nanosB = measure(a, nanosA), measure(b, nanosB)
	}
	return nanosA, nanosB
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
