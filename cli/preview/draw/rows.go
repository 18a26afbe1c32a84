package draw

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// secondsPerDay are those of a row. Days of 23 or 25 hours have a gap, or another row.
const secondsPerDay = 24 * 60 * 60

// row is a local date, or the part of one after the clock was put back: of an hour that comes twice, the second one is in a row of
// its own, so that in each row the clock runs one way.
type row struct {
	date   time.Time // an instant of it
	pieces []piece
	skips  []wall // what the clock leaves out
	// jump is by how much the clock is put forward, or back if negative, in this row or at its beginning.
	jump  time.Duration
	again bool // an earlier row has the same date
	turns bool // the clock is put back at the end of the row
}

// piece is a part of a row in which the clock runs evenly.
type piece struct {
	start, end time.Time
	wall
}

// wall is a stretch of a date by the clock, in seconds after midnight.
type wall struct{ from, to int64 }

// rowsOf splits a stretch of time by the dates of a zone.
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
			rows[last].goOn(p, jump)
		default:
			rows = append(rows, following(&rows[last], p, jump))
		}
		at = p.end
	}
	return rows
}

// goOn adds a piece to a row of which it has the date.
func (r *row) goOn(p piece, jump time.Duration) {
	if before := &r.pieces[len(r.pieces)-1]; before.to == p.from {
		before.end, before.to = p.end, p.to
		return
	}
	r.skips = append(r.skips, wall{p.from - int64(jump/time.Second), p.from})
	r.jump = jump
	r.pieces = append(r.pieces, p)
}

// following is the row that begins with a piece after another row. The clock may have jumped between the two.
func following(before *row, p piece, jump time.Duration) row {
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

// pieceAt is what follows an instant until the clock jumps, the date ends, or the timeline. The end of the date is counted from the
// clock at its beginning: if the clock jumps before that, the piece ends there anyway.
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

// jumpAt is how the clock is put forward at an instant, 0 if it is not.
func jumpAt(at time.Time) time.Duration {
	_, after := at.Zone()
	_, before := at.Add(-1).Zone()
	return time.Duration(after-before) * time.Second
}

// dateOf is the local date as an instant that can be compared across zones and clock changes.
func dateOf(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func sameDate(a, b time.Time) bool { return dateOf(a).Equal(dateOf(b)) }
