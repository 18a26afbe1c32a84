package timewindowscaler

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

var anyUID = rapid.Map(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}`), func(s string) types.UID { return types.UID(s) })

// drawWait draws a now and a wake-up up to 24 h ahead of it, or in the past.
func drawWait(t *rapid.T) (now, wakeUp time.Time) {
	now = ist(inTheHours).Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now")))
	return now, ist(inTheHours).Add(time.Duration(rapid.Int64Range(-3600, 24*3600).Draw(t, "wakeUp")) * time.Second)
}

// T6: never before the boundary, between 30 s and 24 h, in tens of seconds, at most 25 s of jitter
// and one quantum late.
func TestRequeueFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, wakeUp := drawWait(t)
		uid := anyUID.Draw(t, "uid")
		wait := wakeUp.Sub(now)
		got := DefaultRequeue.After(now, wakeUp, uid)
		switch {
		case got < 30*time.Second || got > 24*time.Hour:
			t.Fatalf("%s is out of bounds", got)
		case got < wait:
			t.Fatalf("%s is before the boundary in %s", got, wait)
		case got%(10*time.Second) != 0:
			t.Fatalf("%s is not a multiple of 10 s", got)
		case got > 30*time.Second && got > wait+25*time.Second:
			t.Fatalf("%s is later than the boundary in %s and 25 s of jitter", got, wait)
		}
		if again := DefaultRequeue.After(now, wakeUp, uid); again != got {
			t.Fatalf("%s, then %s for the same scaler and boundary", got, again)
		}
	})
}

// T6: the formula itself, with the jitter known: quantize(wait + jitter), floored, or the next
// quantum where the floor would come before the boundary.
func TestRequeueTable(t *testing.T) {
	const second = time.Second
	now := ist(inTheHours)
	for name, tc := range map[string]struct{ jitter, wait, want time.Duration }{
		"floored":                        {7 * second, 100 * second, 100 * second},
		"floored, further":               {17 * second, 104 * second, 120 * second},
		"a floor before the boundary":    {5 * second, 101*second + 1, 110 * second},
		"least":                          {5 * second, 3 * second, 30 * second},
		"overdue":                        {5 * second, -time.Hour, 30 * second},
		"most":                           {25 * second, 24 * time.Hour, 24 * time.Hour},
		"most is more than the boundary": {25 * second, 24*time.Hour - second, 24 * time.Hour},
	} {
		q := DefaultRequeue
		q.JitterMin, q.JitterMax = tc.jitter, tc.jitter
		if got := q.After(now, now.Add(tc.wait), "u"); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// T6: jitter 0 means exactly at the boundary: no quantum, no minimum.
func TestNoJitterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, wakeUp := drawWait(t)
		q := DefaultRequeue
		q.JitterMax = 0
		if got := q.After(now, wakeUp, anyUID.Draw(t, "uid")); got != max(wakeUp.Sub(now), 0) {
			t.Fatalf("%s for a boundary in %s", got, wakeUp.Sub(now))
		}
	})
}

// Any sane numbers keep the promises that do not depend on the defaults.
func TestRequeueWithOtherNumbers(t *testing.T) {
	seconds := func(t *rapid.T, name string, most int64) time.Duration {
		return time.Duration(rapid.Int64Range(0, most).Draw(t, name)) * time.Second
	}
	rapid.Check(t, func(t *rapid.T) {
		var q Requeue
		q.JitterMin = seconds(t, "jitterMin", 60)
		q.JitterMax = q.JitterMin + seconds(t, "jitter", 60)
		q.Quantum, q.Min = seconds(t, "quantum", 60), seconds(t, "min", 60)
		q.Max = q.Min + time.Second + seconds(t, "max", 100_000)
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		now, wakeUp := drawWait(t)
		got := q.After(now, wakeUp, anyUID.Draw(t, "uid"))
		if got > q.Max || q.JitterMax > 0 && got < q.Min {
			t.Fatalf("%s is out of bounds", got)
		}
		if wait := wakeUp.Sub(now); got < min(wait, q.Max) {
			t.Fatalf("%s is before the boundary in %s", got, wait)
		}
	})
}

// Scalers that share a boundary are spread over the whole jitter, and one scaler over its boundaries.
func TestJitterIsSpread(t *testing.T) {
	now := ist(inTheHours)
	q := DefaultRequeue
	q.Quantum, q.Min, q.Max = 0, 0, 20_000*time.Minute
	count := func(jitter func(i int) time.Duration) (slots [20]int) {
		for i := range 20_000 {
			j := jitter(i)
			if j < q.JitterMin || j > q.JitterMax {
				t.Fatalf("jitter %s", j)
			}
			slots[min(int((j-q.JitterMin)/time.Second), 19)]++
		}
		return slots
	}
	boundary := now.Add(time.Hour)
	for what, slots := range map[string][20]int{
		"scalers": count(func(i int) time.Duration {
			return q.After(now, boundary, types.UID(strconv.Itoa(i))) - time.Hour
		}),
		"boundaries": count(func(i int) time.Duration {
			wait := time.Duration(i) * time.Minute
			return q.After(now, now.Add(wait), "u-1") - wait
		}),
	} {
		for second, n := range slots {
			if n < 500 || n > 2000 { // 1000 if perfectly even
				t.Errorf("%s: %d of 20000 in second %d: %v", what, n, second, slots)
			}
		}
	}
}

func TestRequeueValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Requeue)
		want   string
	}{
		"the defaults":         {func(*Requeue) {}, ""},
		"no jitter":            {func(q *Requeue) { q.JitterMax = 0 }, ""},
		"no quantum":           {func(q *Requeue) { q.Quantum = 0 }, ""},
		"no minimum":           {func(q *Requeue) { q.Min = 0 }, ""},
		"one value":            {func(q *Requeue) { q.Max = q.Min }, ""},
		"negative jitter":      {func(q *Requeue) { q.JitterMin = -1 }, "--requeue-jitter-min: must be 0 or more"},
		"negative most jitter": {func(q *Requeue) { q.JitterMax = -time.Second }, "--requeue-jitter-max: must be 0 or more, not -1s"},
		"negative quantum":     {func(q *Requeue) { q.Quantum = -1 }, "--requeue-quantum: must be 0 or more"},
		"negative minimum":     {func(q *Requeue) { q.Min = -1 }, "--requeue-min: must be 0 or more"},
		"jitter upside down":   {func(q *Requeue) { q.JitterMax = time.Second }, "--requeue-jitter-min: must not exceed --requeue-jitter-max 1s, but is 5s"},
		"bounds upside down":   {func(q *Requeue) { q.Max = time.Second }, "--requeue-max: must be above 0 and not below --requeue-min 30s, but is 1s"},
		"never":                {func(q *Requeue) { q.Min, q.Max = 0, 0 }, "--requeue-max: must be above 0"},
	} {
		q := DefaultRequeue
		tc.change(&q)
		err := q.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// B10: a pass that reports trouble never comes past the next wake-up.
func TestUntilOr(t *testing.T) {
	now := ist(inTheHours)
	for name, tc := range map[string]struct {
		wakeUp time.Time
		want   time.Duration
	}{
		"no boundary":                 {time.Time{}, time.Minute},
		"the boundary comes first":    {now.Add(42 * time.Second), 42 * time.Second},
		"the boundary comes later":    {now.Add(time.Hour), time.Minute},
		"the boundary is now":         {now, time.Minute},
		"the boundary has gone":       {now.Add(-time.Hour), time.Minute},
		"the boundary is a hair away": {now.Add(1), 1},
	} {
		if got := untilOr(time.Minute, now, tc.wakeUp); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// Every result sets the priority, which an item otherwise keeps from the first list; and none is
// zero, which would be no requeue at all.
func TestEveryResultRequeuesWithPriority(t *testing.T) {
	for _, delay := range []time.Duration{-time.Second, 0, 1, time.Hour} {
		got := after(delay)
		if got.RequeueAfter <= 0 || got.RequeueAfter > max(delay, 1) || ptr.Deref(got.Priority, 0) != 100 {
			t.Errorf("after %s: %s with priority %v", delay, got.RequeueAfter, got.Priority)
		}
	}
}
