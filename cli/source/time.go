package source

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

var wallLayouts = []string{
	time.DateOnly,
	"2006-01-02 15:04", "2006-01-02T15:04",
	time.DateTime, "2006-01-02T15:04:05",
}

// ParseTime parses the argument of a flag: RFC 3339, or a date or a date and time in zone. A date is its first instant, a time that
// the clock repeats the first one, and a time that it skips the first instant afterwards, as with the edges of windows. The result
// is in zone, in a year from 1970 to 2999.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	at, err := parseTime(text, zone)
	if err == nil && (at.Year() < 1970 || at.Year() > 2999) {
		return time.Time{}, fmt.Errorf("%q is out of range: use a time from 1970 to 2999", text)
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
		"%q is not a time: use 2026-11-23 or \"2026-11-23 10:00\" (both in %s), or 2026-11-23T10:00:00Z", text, zone)
}

// AddDays returns the instant with the same local time a number of days later, 0 or more.
func AddDays(t time.Time, days int) time.Time {
	_, offset := t.Zone()
	wall := t.UTC().Add(time.Duration(offset)*time.Second).AddDate(0, 0, days)
	if days == 0 {
		return t // even if it is the second one of a repeated time
	}
	return onClock(wall, t.Location())
}

// onClock returns the instant at which the clock of a zone shows what wall shows in UTC. time.Date does not specify what it returns
// for skipped and repeated times.
func onClock(wall time.Time, zone *time.Location) time.Time {
	const furthest = 26 * time.Hour // more than any UTC offset or change of one
	for at := wall.Add(-furthest).In(zone); ; {
		_, offset := at.Zone()
		candidate := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		end := timecalc.ZoneEnd(at)
		switch {
		case candidate.Before(at):
			return at // skipped
		case end.IsZero() || candidate.Before(end):
			return candidate
		}
		at = end
	}
}
