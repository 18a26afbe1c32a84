package chaos

import (
	"net/http"
	"sync"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"

	"kyklos.io/kyklos/test/harness"
)

// The manager is killed before or after each write of a flip, and started again. The target has the right replicas, was
// written once, and no event reports what did not happen.
func TestKilledAroundEveryWrite(t *testing.T) {
	for _, write := range []struct{ name, method, path string }{
		{"scale", http.MethodPatch, "/scale"},
		{"status", http.MethodPatch, "/status"},
		{"event", http.MethodPost, "/events"},
	} {
		for _, after := range []bool{false, true} {
			moment := map[bool]string{false: "before", true: "after"}[after]
			t.Run(moment+" the "+write.name, func(t *testing.T) { killAround(t, write.method, write.path, after) })
		}
	}
}

func killAround(t *testing.T, method, path string, after bool) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:59:00")
	s.CreatePair("web", 3, "09:00", "17:00")
	proxy := s.StartProxy()
	first := s.Start(proxy, "--leader-elect=false")
	s.AwaitReady(first)
	s.AwaitSettled(1, 0)

	proxy.Forget()
	var once sync.Once
	proxy.Inject(func(r harness.Request, answered bool) {
		if r.Is(method, path) && answered == after {
			once.Do(func() { _ = first.Kill() })
		}
	})
	s.SetClock("2025-01-27 09:00:00")
	select {
	case <-first.Done():
	case <-time.After(harness.Patience):
		t.Fatal("the manager still runs: it never sent that request")
	}
	proxy.Inject(nil)

	second := s.Start(proxy, "--leader-elect=false")
	s.AwaitReady(second)
	s.AwaitSettled(1, 3)
	scales := len(proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPatch, "/scale") }))
	// Only a write that did not reach the API server is repeated.
	allowed := 1
	if path == "/scale" && !after {
		allowed = 2
	}
	if scales > allowed {
		t.Errorf("writes to the target: got %d, want at most %d", scales, allowed)
	}
	s.onlyEvent("Scaled up from 0 to 3 replicas (window: BusinessHours)")
}

// onlyEvent checks that the namespace's scalers have at most one event, with this note.
func (s *scenario) onlyEvent(note string) {
	s.Helper()
	var list eventsv1.EventList
	s.List(s.Namespace, &list)
	count := 0
	for _, e := range list.Items {
		if e.Regarding.Kind != "TimeWindowScaler" {
			continue
		}
		count++
		if e.Note != note || e.Series != nil {
			s.Errorf("got the event %s: %s (series %v), want %s", e.Reason, e.Note, e.Series, note)
		}
	}
	if count > 1 {
		s.Errorf("got %d events of one flip, want 1", count)
	}
}
