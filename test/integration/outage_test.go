package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/test/controlplane"
)

// The API server dies before a boundary and comes back after it, so late that the manager has lost
// its Lease. The flip happens as soon as the server is back; the manager never exits.
func TestAPIServerAwayOverABoundary(t *testing.T) {
	dir := ownCluster(t)
	s := newStage(t)
	s.clock("2025-01-27 08:59:00")
	s.pair("web", 3, "09:00", "17:00")
	m := s.manager(nil)
	s.awaitReady(m)
	s.awaitSettled(1, 0)

	s.must(cluster.Kill())
	s.clock("2025-01-27 09:00:00")
	s.eventually("the manager restarting", func() bool { return strings.Contains(s.log.String(), "stopped; restarting") })
	s.eventually("an answer to the liveness probe", func() bool { return get(m.HealthURL+"/healthz") == http.StatusOK })
	if status := get(m.HealthURL + "/readyz"); status == http.StatusOK {
		t.Error("ready without an API server")
	}
	back, err := controlplane.Start(t.Context(), dir)
	s.must(err)
	t.Cleanup(func() { _ = back.Stop() })
	cluster = back
	ready := time.Now()
	s.awaitSettled(1, 3)
	t.Logf("settled %s after the API server was ready", time.Since(ready).Round(10*time.Millisecond))
	select {
	case <-m.Done():
		t.Error("the manager exited")
	default:
	}
}

// get returns the status of an answer, 0 if there is none.
func get(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// A short outage leaves the Lease alone; what failed meanwhile is repeated on the server's return.
func TestShortOutage(t *testing.T) {
	s := newStage(t)
	s.clock("2025-01-27 08:59:00")
	s.pair("web", 3, "09:00", "17:00")
	proxy := s.proxy()
	m := s.manager(proxy, "--leader-elect=false")
	s.awaitReady(m)
	s.awaitSettled(1, 0)
	proxy.Break(true)
	s.clock("2025-01-27 09:00:00")
	s.eventually("a failed pass", func() bool { return s.sum(m, "kyklos_scale_failures_total") > 0 })
	proxy.Break(false)
	back := time.Now()
	s.awaitSettled(1, 3)
	t.Logf("settled %s after the API server was back", time.Since(back).Round(10*time.Millisecond))
}
