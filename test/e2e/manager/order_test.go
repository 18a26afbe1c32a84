package manager

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// B18: of what a boundary makes due, the targets are written first, up and down. No status and no event is sent while one of them
// waits, however few workers there are. Later each flip has its event and its status.
func TestTargetsAreWrittenFirst(t *testing.T) {
	const flips = 60
	for _, workers := range []int{1, 64} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			s := newScenario(t)
			s.SetClock("2025-01-27 08:00:00")
			for i := range flips {
				s.CreatePair(fmt.Sprintf("web-%02d", i), 1, "09:00", "17:00")
			}
			proxy := s.StartProxy()
			m := s.Start(proxy, "--leader-elect=false", fmt.Sprint("--workers=", workers))
			s.AwaitReady(m)
			s.AwaitSettled(flips, 0)
			s.Until("every target at rest", func() bool { return s.resting() == flips })
			// While a write takes that long, another worker would have the time for a status.
			proxy.Add(harness.Rule{Match: harness.Match{Verbs: []string{"patch"}, Resource: "deployments", Subresource: "scale"}, Action: harness.Delay(10 * time.Millisecond)})
			for _, boundary := range []struct {
				at       string
				replicas int32
			}{{"2025-01-27 09:00:00", 1}, {"2025-01-27 17:00:00", 0}} {
				s.Until("the queue empty", func() bool { return s.Sum(m, "workqueue_depth") == 0 })
				proxy.Forget()
				s.SetClock(boundary.at)
				s.AwaitSettled(flips, boundary.replicas)
				s.Until("an event of each flip", func() bool { return len(proxy.Requests(isEvent)) >= flips })
				s.targetsFirst(proxy, flips)
			}
		})
	}
}

// targetsFirst checks the order in which requests arrived.
func (s *scenario) targetsFirst(proxy *harness.Proxy, flips int) {
	s.Helper()
	scales, others := 0, 0
	for _, r := range proxy.Requests(isCost) {
		switch {
		case r.Is(http.MethodPatch, "/scale"):
			scales++
		case r.Is(http.MethodPatch, "/status") || isEvent(r):
			if others++; scales < flips {
				s.Fatalf("%s %s was sent after %d of %d writes of targets", r.Method, r.Path, scales, flips)
			}
		}
	}
	if events := len(proxy.Requests(isEvent)); scales != flips || events != flips || others > 3*flips {
		s.Errorf("%d flips: %d writes of targets, %d events, %d requests for statuses and events", flips, scales, events, others)
	}
}

func isEvent(r harness.Request) bool { return r.Is(http.MethodPost, "/events") }
