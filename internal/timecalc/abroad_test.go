package timecalc_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// anyAbroad draws a schedule whose windows are in the given zones, nil among them for its own.
func anyAbroad(zones ...*time.Location) *rapid.Generator[*schedule] {
	return rapid.Custom(func(t *rapid.T) *schedule {
		set := newSchedule(anySet.Draw(t, "windows"))
		own := make([]*time.Location, len(set.specs))
		for i := range own {
			own[i] = rapid.SampledFrom(zones).Draw(t, "zone")
		}
		return set.in(own...)
	})
}

// TestEveryZoneAmongOthers examines schedules whose windows are in up to four zones, at the clock
// changes of one of them: the schedule's own, or that of some windows. The others are any zone of the
// database and any of the odd ones, with changes of their own on that night or on others, and the first
// zone loaded once more: another pointer, the same clock.
func TestEveryZoneAmongOthers(t *testing.T) {
	every, first, last, drawn := 40, 2026, 2026, 3
	if *full {
		every, first, last, drawn = 1, 2024, 2037, 4
	}
	names := slices.Sorted(maps.Keys(allZones(t)))
	stretches := oddStretches(t)
	for i, name := range slices.Concat(oddZones, names) {
		if i < len(oddZones) || i%every == 0 {
			stretches = append(stretches, changesBetween(mustZone(t, name), first, last)...)
		}
	}
	random := rand.New(rand.NewPCG(2026, 11)) // the same zones in every run
	var tasks []func() findings
	for i, s := range stretches {
		again := mustZone(t, s.zone.String())
		any, odd := mustZone(t, names[random.IntN(len(names))]), mustZone(t, oddZones[random.IntN(len(oddZones))])
		home := []*time.Location{s.zone, any, odd}[i%3]
		s.name, s.zone = s.name+" from "+home.String(), home
		tasks = append(tasks, func() findings {
			var total findings
			tl := observe(s, again, any, odd)
			for j := range drawn {
				total.add(tl.examine(realEngine, anyAbroad(nil, again, any, odd).Example(i*100+j)))
			}
			return total
		})
	}
	report(t, len(tasks), inParallel(tasks))
}

// TestManyZones: a schedule may have more zones than the engine caches.
func TestManyZones(t *testing.T) {
	var zones []*time.Location
	for _, name := range oddZones {
		zones = append(zones, mustZone(t, name))
	}
	var specs []spec
	var own []*time.Location
	for i := range 40 {
		specs = append(specs, spec{weekdays[i%7:], clockFaces[i*31], clockFaces[i*31+47], int32(i)})
		own = append(own, zones[i*5%len(zones)])
	}
	s := changesBetween(mustZone(t, "America/New_York"), 2026, 2026)[0]
	report(t, 1, observe(s, zones...).examine(realEngine, newSchedule(specs).in(own...)))
}

// TestWindowsAbroad are examples that can be checked by hand. The schedule is Berlin's, 2026-06-12 a
// Friday; New York is six hours behind, Auckland ten ahead.
func TestWindowsAbroad(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	in := func(zone string, w timecalc.TimeWindow) timecalc.TimeWindow { return w.In(mustZone(t, zone)) }
	office := mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "09:00", "17:00", 10)
	newYork := in("America/New_York", mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "09:00", "17:00", 20))
	auckland := in("Pacific/Auckland", mustWindow(t, "Sat", "00:00", "24:00", 30))
	all := []timecalc.TimeWindow{office, newYork, auckland}
	tests := []struct {
		name     string
		windows  []timecalc.TimeWindow
		at, next string
		want     int32
	}{
		{"morning in Berlin, night in New York", all, "2026-06-12 09:00", "2026-06-12 14:00", 10},
		{"Saturday has begun in Auckland, and is last in the list", all, "2026-06-12 14:00", "2026-06-12 15:00", 30},
		{"both offices, the last wins", all[:2], "2026-06-12 15:30", "2026-06-12 17:00", 20},
		{"Berlin has closed", all[:2], "2026-06-12 17:00", "2026-06-12 23:00", 20},
		{"the order of the list decides, not the zone", []timecalc.TimeWindow{newYork, office}, "2026-06-12 16:00", "2026-06-12 17:00", 10},
		{"Auckland's Saturday ends at Berlin's 14:00", all, "2026-06-13 13:59", "2026-06-13 14:00", 30},
		{"nothing in 24 hours: Berlin's next date, not New York's", all[1:2], "2026-06-13 06:00", "2026-06-14 00:00", 3},
		{"for three weeks in spring New York is an hour nearer", all[1:2], "2026-03-20 10:00", "2026-03-20 14:00", 3},
		{"until Berlin's clock changes too", all[1:2], "2026-03-30 10:00", "2026-03-30 15:00", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := timecalc.Calendar{Zone: berlin, Windows: tt.windows, DefaultReplicas: 3}
			now := clock(t, berlin, tt.at)
			if got := c.At(now.UTC()).Replicas; got != tt.want {
				t.Errorf("got %d replicas, want %d", got, tt.want)
			}
			if got, want := c.NextBoundary(now.UTC()), clock(t, berlin, tt.next); !got.Equal(want) || got.Location() != berlin {
				t.Errorf("got the boundary %v, want %v", got, want)
			}
		})
	}
}
