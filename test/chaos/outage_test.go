package chaos

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The API server is killed before a boundary and restarted after it, when the manager has lost its Lease. The flip happens
// as soon as the server is back. The manager never exits.
func TestAPIServerDownOverABoundary(t *testing.T) {
	s := &scenario{fixtures.NewScaling(t, installation.OwnCluster(t))}
	s.SetClock("2025-01-27 08:59:00")
	s.CreatePair("web", 3, "09:00", "17:00")
	m := s.Start(nil)
	s.AwaitReady(m)
	s.AwaitSettled(1, 0)

	s.Must(s.Cluster.Kill())
	s.SetClock("2025-01-27 09:00:00")
	s.Until("the manager restarting", func() bool { return strings.Contains(s.ManagerLog.String(), "stopped; restarting") })
	s.Until("a healthy liveness probe", func() bool { return get(m.HealthURL+"/healthz") == http.StatusOK })
	if status := get(m.HealthURL + "/readyz"); status == http.StatusOK {
		t.Error("the manager is ready without an API server")
	}
	back, err := harness.Start(t.Context(), s.Cluster.Dir)
	s.Must(err)
	t.Cleanup(func() { _ = back.Stop() })
	ready := time.Now()
	s.AwaitSettled(1, 3)
	s.measured("F5", "API server killed: settled after it was ready again", time.Since(ready))
	select {
	case <-m.Done():
		t.Error("the manager exited")
	default:
	}
}

// get returns the status code, or 0 if there is no answer.
func get(url string) int {
	response, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// A short outage does not touch the Lease. What failed meanwhile is retried when the server is back.
func TestShortOutage(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:59:00")
	s.CreatePair("web", 3, "09:00", "17:00")
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false")
	s.AwaitReady(m)
	s.AwaitSettled(1, 0)
	proxy.Break(true)
	s.SetClock("2025-01-27 09:00:00")
	s.Until("a failed pass", func() bool { return s.Sum(m, "kyklos_scale_failures_total") > 0 })
	proxy.Break(false)
	back := time.Now()
	s.AwaitSettled(1, 3)
	s.measured("F5", "API server unreachable for a moment: settled after", time.Since(back))
}
