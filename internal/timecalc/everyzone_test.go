package timecalc_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Everything: go test ./internal/timecalc -run TestEveryZone -v -timeout 60m -args -full
var full = flag.Bool("full", false, "examine all clock changes from 2024 to 2037, not only those of 2026")

var weekdays = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// nastySchedules are edges that often fall into clock changes, each daily and on each single day:
// every window alone, and all of them as one schedule.
var nastySchedules = sync.OnceValue(func() []*schedule {
	var all []spec
	for i, edges := range [][2]string{
		{"02:30", "04:30"}, {"00:00", "06:00"}, {"22:00", "02:30"}, {"01:00", "02:00"}, {"23:59", "00:00"},
		{"00:00", "24:00"},
	} {
		n := int32(i + 1)
		all = append(all, spec{weekdays, edges[0], edges[1], n})
		for _, day := range weekdays {
			all = append(all, spec{[]string{day}, edges[0], edges[1], n})
		}
	}
	schedules := []*schedule{newSchedule(all)}
	for _, window := range all {
		schedules = append(schedules, newSchedule([]spec{window}))
	}
	return schedules
})

// anyTime draws a time of day, often one near midnight or the usual hours of clock changes.
var anyTime = rapid.OneOf(
	rapid.SampledFrom([]string{"00:00", "00:01", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "23:00", "23:30", "23:59"}),
	rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"))
	}),
)

// anyEnd is anyTime, and now and then the end of the day.
var anyEnd = rapid.OneOf(anyTime, anyTime, anyTime, rapid.Just("24:00"))

var anySpec = rapid.Custom(func(t *rapid.T) spec {
	start := anyTime.Draw(t, "start")
	return spec{
		days:     rapid.SliceOfNDistinct(rapid.SampledFrom(weekdays), 1, 7, rapid.ID[string]).Draw(t, "days"),
		start:    start,
		end:      anyEnd.Filter(func(end string) bool { return end != start }).Draw(t, "end"),
		replicas: rapid.Int32Range(0, 9).Draw(t, "replicas"),
	}
})

var anySet = rapid.SliceOfN(anySpec, 0, 8)

// examineAll examines the engine in a stretch: with the nasty schedules and some drawn ones, which are the same
// in every run for the same stretch.
func examineAll(e engine, s stretch, drawn int) findings {
	var total findings
	tl := observe(s)
	for _, set := range nastySchedules() {
		total.add(tl.examine(e, set))
	}
	for i := range drawn {
		total.add(tl.examine(e, newSchedule(anySet.Example(int(s.from)/60*100+i))))
	}
	return total
}

func TestOddities(t *testing.T) {
	stretches := oddStretches(t)
	for _, name := range oddZones {
		stretches = append(stretches, changesBetween(mustZone(t, name), 2026, 2026)...)
	}
	stretches = append(stretches, changesBetween(mustZone(t, "America/St_Johns"), 1990, 1991)...)
	stretches = append(stretches, changesBetween(mustZone(t, "Australia/Lord_Howe"), 2040, 2040)...) // no change of that year is listed
	if *full {
		stretches = append(stretches, changesBetween(mustZone(t, "America/St_Johns"), 1987, 2011)...)
	}
	report(t, len(stretches), inParallel(examinations(stretches, 4)))
}

// TestEveryZone examines every zone of the database. Names whose data are the same bytes are one zone.
// A zone without a clock change in those years is examined on one ordinary date.
func TestEveryZone(t *testing.T) {
	first, last, drawn := 2026, 2026, 1
	if *full {
		first, last, drawn = 2024, 2037, 10
	}
	zones := allZones(t)
	seen := make(map[string]bool)
	var stretches []stretch
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		if seen[string(zones[name])] {
			continue
		}
		seen[string(zones[name])] = true
		zone := mustZone(t, name)
		changes := changesBetween(zone, first, last)
		if len(changes) == 0 {
			ordinary := time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC).Unix()
			changes = []stretch{{name, zone, ordinary, ordinary + 24*3600}}
		}
		stretches = append(stretches, changes...)
	}
	t.Logf("%d zone names, %d distinct; clock changes of %d to %d, 48 h before to 48 h after each", len(zones), len(seen), first, last)
	report(t, len(stretches), inParallel(examinations(stretches, drawn)))
}

// examinations are the stretches to examine, one task each.
func examinations(stretches []stretch, drawn int) []func() findings {
	var tasks []func() findings
	for _, s := range stretches {
		tasks = append(tasks, func() findings { return examineAll(realEngine, s, drawn) })
	}
	return tasks
}

// inParallel adds up the findings of the tasks, with two workers.
func inParallel(tasks []func() findings) findings {
	var total findings
	var lock sync.Mutex
	var workers sync.WaitGroup
	work := make(chan func() findings)
	for range 2 {
		workers.Go(func() {
			for task := range work {
				f := task()
				lock.Lock()
				total.add(f)
				lock.Unlock()
			}
		})
	}
	for _, task := range tasks {
		work <- task
	}
	close(work)
	workers.Wait()
	return total
}

func report(t *testing.T, stretches int, f findings) {
	t.Helper()
	t.Logf("%d stretches, %d minutes of schedules examined, %d boundaries hit: %d wrong minutes, %d wrong boundaries",
		stretches, f.minutes, f.boundaries, f.wrongReplicas, f.wrongBoundaries)
	if f.minutes == 0 || f.boundaries == 0 {
		t.Error("nothing was examined")
	}
	if f.wrongReplicas+f.wrongBoundaries > 0 {
		t.Error(f.first)
	}
}
