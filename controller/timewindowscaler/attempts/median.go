package attempts

import "time"

const (
	// An answer is slow if it takes timesMedian as long as half of all answers, within these bounds. If they all take
	// long, the API server is slow, and fewer requests in one lane would help no other.
	timesMedian            = 8
	leastSlow, longestFast = time.Second, 5 * time.Second
	// step is how much each answer moves the median, as a part of it, and firstMedian where it starts.
	step, firstMedian = 16, 10 * time.Millisecond
)

// median follows the median of a stream of durations: each moves it by the same part, up or down. So a few that
// hang hardly count, however long they do.
type median time.Duration

func (m *median) add(took time.Duration) {
	if took > time.Duration(*m) {
		*m += *m / step
	} else {
		*m = max(*m-*m/step, median(time.Millisecond))
	}
}

// isSlow reports whether an answer that takes so long is slow.
func (m median) isSlow(took time.Duration) bool {
	return took >= min(max(timesMedian*time.Duration(m), leastSlow), longestFast)
}
