package source

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// wallLayouts are the ways to write a time on the clock of a zone.
var wallLayouts = []string{
	time.DateOnly,
	"2006-01-02 15:04", "2006-01-02T15:04",
	time.DateTime, "2006-01-02T15:04:05",
}

// ParseTime reads a time as people give it to a command: RFC 3339, or a date, or a date and a time of day on the clock of
// zone; a date alone is its first instant. Of a time that the clock shows twice it is the first, and of one that it skips the first
// instant afterwards, as with the edges of windows. The result is in zone, in a year from 1970, before which clocks went by the sun,
// to 2999: no zone's rules hold that long.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	at, err := parseTime(text, zone)
	if err == nil && (at.Year() < 1970 || at.Year() > 2999) {
		return time.Time{}, fmt.Errorf("%q is too far away: give a time from 1970 to 2999", text)
	}
	return at, err
}

func parseTime(text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.In(zone), nil
	}
	for _, layout := range wallLayouts {
		if wall, err := time.Parse(layout, text); err == nil {
			return onClock(wall, zone), nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"%q is no time: write 2026-11-23, \"2026-11-23 10:00\", which are read in %s, or 2026-11-23T10:00:00Z", text, zone)
}

// AddDays returns the instant at which the clock of t's zone shows the same time of day some days later, 0 or more.
func AddDays(t time.Time, days int) time.Time {
	_, offset := t.Zone()
	wall := t.UTC().Add(time.Duration(offset)*time.Second).AddDate(0, 0, days)
	if days == 0 {
		return t // also on the second of two times that the clock shows twice
	}
	return onClock(wall, t.Location())
}

// onClock returns the instant at which the clock of a zone shows what wall does in UTC. time.Date would do, but for the times
// that are skipped or repeated: it does not say what it makes of them.
func onClock(wall time.Time, zone *time.Location) time.Time {
	const furthest = 26 * time.Hour // no zone is, or changes, that far from UTC
	for at := wall.Add(-furthest).In(zone); ; {
		_, offset := at.Zone()
		candidate := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		end := timecalc.ZoneEnd(at)
		switch {
		case candidate.Before(at):
			return at // the clock went past it
		case end.IsZero() || candidate.Before(end):
			return candidate
		}
		at = end
	}
}
