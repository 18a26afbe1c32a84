package attempts

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
)

// Work is one of the things that a scaler sends requests for. Each is retried by itself.
type Work string

// The works of a pass.
const (
	ReadScaler    Work = "read the scaler"
	ReadTarget    Work = "read the target"
	ReadHeartbeat Work = "read the heartbeat"
	WriteTarget   Work = "write the target"
	WriteStatus   Work = "write the status"
)

var works = []Work{ReadScaler, ReadTarget, ReadHeartbeat, WriteTarget, WriteStatus}

// ID is one work of one scaler.
type ID struct {
	Scaler types.NamespacedName
	Work   Work
}

// Cause is why work is due. Work that failed waits for its turn, whatever wakes its scaler, unless the cause
// is another: then it is other work.
type Cause struct {
	Generation int64
	Target     types.UID
	// Until is when time alone changes what is due.
	Until time.Time
}

const (
	// perSecond is how many retries there are in a second, all scalers together, while none succeeds.
	perSecond = 10
	// perSuccess is how many more each retry that succeeds lets try. So they double until all have.
	perSuccess = 2
	// lastsFrom is when trouble is worth a report, even if it is the first failure.
	lastsFrom = 30 * time.Second
)

// entry is work whose last attempt failed.
type entry struct {
	lane     Lane
	cause    Cause
	err      error
	failures int
	// first and last are when the first and the last failure in a row were.
	first, last time.Duration
	// after is the least time until the next attempt.
	after time.Duration
	// admitted: it may try again.
	admitted bool
}

// fail records an attempt that failed.
func (e *entry) fail(now time.Duration, err error) {
	if e.failures == 0 {
		e.first = now
	}
	e.failures++
	e.last, e.after, e.admitted = now, failure.RetryAfter(err, e.failures), false
	if e.err == nil || !failure.SameText(e.err, err) {
		e.err = err
	}
}

func (e *entry) trouble(now time.Duration) *Trouble {
	return &Trouble{Err: e.err, Lasts: e.failures > 1 || now-e.first >= lastsFrom, Failures: e.failures}
}

// candidate is held work that could try again.
type candidate struct {
	id     ID
	lane   Lane
	served uint64        // when its lane was served last
	last   time.Duration // when it tried last
}

// choose picks at most budget candidates: one of each lane in turn, first of those lanes that were served
// longest ago, and in each lane those that tried longest ago.
func choose(candidates []candidate, budget int) []candidate {
	byLane := map[Lane][]candidate{}
	for _, c := range candidates {
		byLane[c.lane] = append(byLane[c.lane], c)
	}
	for _, lane := range byLane {
		slices.SortFunc(lane, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.id.Scaler.Name, b.id.Scaler.Name), cmp.Compare(a.id.Work, b.id.Work))
		})
	}
	lanes := slices.SortedFunc(maps.Keys(byLane), func(a, b Lane) int {
		return cmp.Or(cmp.Compare(byLane[a][0].served, byLane[b][0].served),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind.String(), b.Kind.String()))
	})
	var chosen []candidate
	for round := 0; len(chosen) < min(budget, len(candidates)); round++ {
		for _, lane := range lanes {
			if round < len(byLane[lane]) && len(chosen) < budget {
				chosen = append(chosen, byLane[lane][round])
			}
		}
	}
	return chosen
}
