package picture

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// secondsPerDay is the length of a row. Days of 23 or 25 hours have a gap, or another row.
const secondsPerDay = 24 * 60 * 60

// row is a local date, or the part of one after the clock went back: the second of two repeated hours is in its own row.
type row struct {
	date   time.Time // an instant on it
	pieces []piece
	skips  []wall // what the clock skips
	// jump is how far the clock goes forward in this row or at its start, negative if it goes back.
	jump  time.Duration
	again bool // an earlier row has the same date
	turns bool // the clock goes back at the end of the row
}

type piece struct {
	start, end time.Time
	wall
}

// wall is a range of clock times on a date, in seconds after midnight.
type wall struct{ from, to int64 }

func rowsOf(from, until time.Time, zone *time.Location) []row {
	var rows []row
	for at := from.In(zone); at.Before(until); {
		p := pieceAt(at, until)
		jump := jumpAt(at)
		last := len(rows) - 1
		switch {
		case last < 0:
			rows = append(rows, row{date: at, pieces: []piece{p}})
		case sameDate(rows[last].date, at) && jump >= 0:
			rows[last].extend(p, jump)
		default:
			rows = append(rows, nextRow(&rows[last], p, jump))
		}
		at = p.end
	}
	return rows
}

func (r *row) extend(p piece, jump time.Duration) {
	if before := &r.pieces[len(r.pieces)-1]; before.to == p.from {
		before.end, before.to = p.end, p.to
		return
	}
	r.skips = append(r.skips, wall{p.from - int64(jump/time.Second), p.from})
	r.jump = jump
	r.pieces = append(r.pieces, p)
}

// nextRow is the row that begins with a piece after another row. The clock may have changed between the two.
func nextRow(before *row, p piece, jump time.Duration) row {
	next := row{date: p.start, pieces: []piece{p}, jump: jump}
	switch {
	case jump > 0:
		if p.from > 0 {
			next.skips = []wall{{max(0, p.from-int64(jump/time.Second)), p.from}}
		}
		if stop := before.pieces[len(before.pieces)-1].to; stop < secondsPerDay {
			before.skips = append(before.skips, wall{stop, secondsPerDay})
			before.jump = jump
		}
	case jump < 0:
		before.turns = true
		next.again = !dateOf(p.start).After(dateOf(before.date))
	}
	return next
}

// pieceAt is the piece from an instant to the next clock change, the end of the date, or until. The end of the date is by the
// offset at the instant: if that changes before, the piece ends there anyway.
func pieceAt(at, until time.Time) piece {
	hour, minute, second := at.Clock()
	from := int64(hour)*3600 + int64(minute)*60 + int64(second)
	stop := time.Unix(at.Unix()+secondsPerDay-from, 0)
	if change := timecalc.ZoneEnd(at); !change.IsZero() && change.Before(stop) {
		stop = change
	}
	if until.Before(stop) {
		stop = until
	}
	return piece{start: at, end: stop.In(at.Location()), wall: wall{from, from + stop.Unix() - at.Unix()}}
}

// jumpAt is how far the clock goes forward at an instant, negative if it goes back.
func jumpAt(at time.Time) time.Duration {
	_, after := at.Zone()
	_, before := at.Add(-1).Zone()
	return time.Duration(after-before) * time.Second
}

// dateOf is the local date as an instant in UTC, which can be compared across zones.
func dateOf(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func sameDate(a, b time.Time) bool { return dateOf(a).Equal(dateOf(b)) }
