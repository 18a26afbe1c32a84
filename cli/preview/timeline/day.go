package timeline

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// Day is a local date, or the part of it that lies in the timeline.
type Day struct {
	Date       string    // YYYY-MM-DD in the schedule's zone
	Start, End time.Time // [Start, End)
	Holiday    bool      // the date is listed, and the mode is not ignore
	// Change is how the schedule's clock changes on this date, nil if it does not.
	Change *Change
	// Seconds is the sum of replicas times seconds.
	Seconds int64
}

// day fills Days. A date that a clock change leaves out is not there; one that it brings back is there twice.
func (t *Timeline) day() {
	segment := 0
	for at := t.From; at.Before(t.Until); {
		end := timecalc.NextDate(at)
		if end.After(t.Until) {
			end = t.Until
		}
		day := Day{Date: at.Format(time.DateOnly), Start: at, End: end}
		day.Holiday = t.Scaler.holidaysCount() && t.Scaler.Calendar.Holidays[day.Date]
		for i := range t.Changes {
			if c := &t.Changes[i]; !c.Time.Before(at) && c.Time.Before(end) {
				day.Change = c
			}
		}
		for segment < len(t.Segments) && t.Segments[segment].Start.Before(end) {
			s := t.Segments[segment]
			day.Seconds += int64(s.Replicas) * seconds(later(s.Start, at), earlier(s.End, end))
			if s.End.After(end) {
				break
			}
			segment++
		}
		t.Days = append(t.Days, day)
		at = end
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
