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
	// trusted: it answered quickly of late.
	trusted bool
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
	if l.running >= min(l.limit, half) || !l.trusted && doubtful >= half {
		return false
	}
	l.running++
	return true
}

// end gives back the place of a request.
func (l *lane) end(now time.Duration, slow bool, half int) {
	l.running--
	l.ended = now
	if slow {
		l.slow()
		return
	}
	l.trusted = true
	l.limit = min(l.limit+1, max(half, fewest))
}

// slow halves the limit, because an answer took too long or is still awaited.
func (l *lane) slow() {
	l.limit = max(l.limit/2, fewest)
	l.trusted = l.limit > fewest
}

// doubtful is how many requests are under way in a lane that is not trusted.
func (l *lane) doubtful() int {
	if l.trusted {
		return 0
	}
	return l.running
}

// next takes from those that wait as many as there are places for.
func (l *lane) next(half int) []ID {
	count := min(max(min(l.limit, half)-l.running, 0), len(l.waiting))
	ids := l.waiting[:count]
	l.waiting = l.waiting[count:]
	return ids
}

// empty reports whether nothing is under way or waits.
func (l *lane) empty() bool { return l.running == 0 && len(l.waiting) == 0 && len(l.held) == 0 }
