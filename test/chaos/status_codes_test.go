package chaos

import (
	"fmt"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The API server answers requests with an error, or never: a seeded 30 % of all requests, then all writes, then all reads
// and watches, each over a boundary. When it stops, everything due happens at once, and not after a back-off. While it
// lasts, retries are few.
func TestStatusCodes(t *testing.T) {
	for name, action := range map[string]harness.Action{
		"429": harness.AnswerRetryAfter(429, time.Second), "500": harness.Answer(500), "502": harness.Answer(502), "503": harness.Answer(503), "hang": harness.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLone(t)
			l.proxy.Seed(20250127)
			l.SetClock("2025-01-27 08:59:00")
			l.everyKind()
			l.start()
			l.awaitKinds(0)
			for _, part := range []struct {
				name     string
				rule     harness.Rule
				clock    string
				replicas int32
			}{
				{"30 % of all requests", harness.Rule{Fraction: 0.3}, "2025-01-27 09:00:00", 3},
				{"all writes", harness.Rule{Match: harness.Match{Verbs: harness.WriteVerbs}}, "2025-01-27 17:00:00", 0},
				{"all reads and watches", harness.Rule{Match: harness.Match{Verbs: harness.ReadVerbs}}, "2025-01-28 09:00:00", 3},
				{"all requests", harness.Rule{}, "2025-01-28 17:00:00", 0},
			} {
				part.rule.Action = action
				l.answeredWith(part.name, part.rule, part.clock)
				ended := time.Now()
				l.afterFault(part.replicas, func() { l.awaitKinds(part.replicas) })
				l.measured("F4", fmt.Sprintf("%s for %s: recovered after", name, part.name), time.Since(ended))
			}
		})
	}
}

// answeredWith injects a rule over a boundary.
func (l *lone) answeredWith(name string, rule harness.Rule, clock string) {
	l.Helper()
	l.proxy.Forget()
	began := time.Now()
	injected := l.proxy.Add(rule)
	defer injected.Remove()
	l.proxy.EndWatches(harness.Match{}, harness.Cut)
	l.SetClock(clock)
	l.Until("requests hit by "+name, func() bool { return injected.Hits() >= 3 })
	time.Sleep(lasts(4*time.Second, time.Minute)) // the fault's length
	seconds := int(time.Since(began).Seconds())
	for _, kind := range fixtures.TargetKinds {
		if sent := len(l.sent(kind, kind.Resource)); sent > 5+2*seconds {
			l.Errorf("%s: got %d writes to %s in %d s", name, sent, kind.Resource, seconds)
		}
	}
}
