package integration

import (
	"net/http"
	"sync"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// The manager is killed before and after each write of a flip, and started again. Whatever the
// moment: the target is right, it was written once, and no event tells of what did not happen.
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
	s := newStage(t)
	s.clock("2025-01-27 08:59:00")
	s.pair("web", 3, "09:00", "17:00")
	proxy := s.proxy()
	first := s.manager(proxy, "--leader-elect=false")
	s.awaitReady(first)
	s.awaitSettled(1, 0)

	proxy.Forget()
	var once sync.Once
	proxy.Inject(func(r harness.Request, answered bool) {
		if r.Is(method, path) && answered == after {
			once.Do(func() { _ = first.Kill() })
		}
	})
	s.clock("2025-01-27 09:00:00")
	select {
	case <-first.Done():
	case <-time.After(patience):
		t.Fatal("the manager lives: it never sent that request")
	}
	proxy.Inject(nil)

	second := s.manager(proxy, "--leader-elect=false")
	s.awaitReady(second)
	s.awaitSettled(1, 3)
	scales := len(proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPatch, "/scale") }))
	// A write that the kill kept from the API server is repeated; any other is not.
	allowed := 1
	if path == "/scale" && !after {
		allowed = 2
	}
	if scales > allowed {
		t.Errorf("%d writes to the target, want %d at most", scales, allowed)
	}
	s.saysOnly("Scaled up from 0 to 3 replicas (window: BusinessHours)")
}

// saysOnly checks that each event of the namespace's scalers has this note, and occurred once.
func (s *stage) saysOnly(note string) {
	s.Helper()
	var list eventsv1.EventList
	s.must(admin.List(s.Context(), &list, client.InNamespace(s.namespace)))
	told := 0
	for _, e := range list.Items {
		if e.Regarding.Kind != "TimeWindowScaler" {
			continue
		}
		told++
		if e.Note != note || e.Series != nil {
			s.Errorf("event %s: %s (series %v)", e.Reason, e.Note, e.Series)
		}
	}
	if told > 1 {
		s.Errorf("%d events of one flip", told)
	}
}
