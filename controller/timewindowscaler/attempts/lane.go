package attempts

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lane is what one slow webhook or API slows down: the requests about one kind of objects in one namespace.
type Lane struct {
	Namespace string
	Kind      schema.GroupKind
}

const (
	// fewest is how many requests a lane may have under way at least. A new lane starts with it.
	fewest = 2
	// idleFor is how long a lane without requests keeps its limit. What serves it may change meanwhile.
	idleFor = time.Minute
)

// lane is the state of a Lane. Its limit grows with each quick answer and is halved by each slow one, like
// TCP's congestion window: a lane that hangs takes a few workers, and one that answers quickly half of them
// (B13).
type lane struct {
	limit, running int
	// reports are those of running that write a status, first all others: a target is written, or may have to be.
	// places is how many of the latter wait.
	first, reports, places int
	// trusted: it answered quickly of late. hangs: it answered slowly, or not at all.
	trusted, hangs bool
	// ended is when the last request ended.
	ended time.Duration
	// waiting are those that found the lane full, in the order in which they came.
	waiting []ID
	// held are those whose last attempt failed, and that may not try again yet.
	held map[ID]*entry
	// served numbers the admissions; see choose.
	served uint64
}

func newLane() *lane {
	return &lane{limit: fewest, held: map[ID]*entry{}}
}

// begin takes a place if there is one. All lanes that are not trusted have at most half of the workers
// together, so that those which are find one.
func (l *lane) begin(now time.Duration, doubtful, half int) bool {
	if l.running == 0 && now-l.ended >= idleFor {
		l.limit = fewest
	}
	if l.free(half) == 0 || !l.trusted && doubtful >= half {
		return false
	}
	l.running++
	return true
}

// free is how many more requests may be under way.
func (l *lane) free(half int) int { return max(min(l.limit, half)-l.running, 0) }

// end gives back the place of a request.
func (l *lane) end(now time.Duration, slow bool, half int) {
	l.running--
	l.ended = now
	if slow {
		l.slow()
		return
	}
	l.trusted, l.hangs = true, false
	l.limit = min(l.limit+1, max(half, fewest))
}

// slow halves the limit, because an answer took too long or is still awaited.
func (l *lane) slow() {
	l.limit = max(l.limit/2, fewest)
	l.trusted, l.hangs = l.limit > fewest, true
}

// load is what one lane, or all of them, have under way.
type load struct {
	// doubtful requests are those of lanes that are not trusted.
	doubtful int
	// due is how many requests are under way or wait that are not about a status, and reports how many are under way that
	// are. A lane that hangs does not count: it would delay the status of every scaler.
	due, reports int
}

func (l *lane) load() load {
	var sum load
	if !l.trusted {
		sum.doubtful = l.running
	}
	if !l.hangs {
		sum.due, sum.reports = l.first+l.places, l.reports
	}
	return sum
}

func (s load) plus(other load, sign int) load {
	return load{s.doubtful + sign*other.doubtful, s.due + sign*other.due, s.reports + sign*other.reports}
}

// count adds n to the requests under way for a work.
func (l *lane) count(work Work, n int) {
	switch work {
	case WriteStatus:
		l.reports += n
	default:
		l.first += n
	}
}

// next takes from those that wait as many as there are places for.
func (l *lane) next(half int) []ID {
	count := min(l.free(half), len(l.waiting))
	ids := l.waiting[:count]
	l.waiting = l.waiting[count:]
	return ids
}

// empty reports whether nothing is under way or waits.
func (l *lane) empty() bool {
	return l.running == 0 && len(l.waiting) == 0 && l.places == 0 && len(l.held) == 0
}
