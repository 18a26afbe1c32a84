package manager

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// metricPair is CreatePair with a metric: one replica for each unit of queue_depth, at most 20.
func (s *scenario) metricPair(name string, fallback int32, start, end string) {
	s.Helper()
	s.CreatePair(name, fallback, start, end)
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: s.Named(name)}
	patch := `{"spec":{"windows":[{"days":["Mon","Tue","Wed","Thu","Fri"],"start":%q,"end":%q,"replicas":%d,
		"metric":{"name":"queue_depth","target":{"type":"AverageValue","averageValue":"1"},"maxReplicas":20}}]}}`
	s.Patch(tws, fmt.Sprintf(patch, start, end, fallback))
}

// measured sets the values of queue_depth in the metrics API.
func (s *scenario) measured(says string) {
	s.Helper()
	s.Must(s.Cluster.WriteExternalMetrics(s.Context(), s.Namespace, map[string]string{"queue_depth": says}))
}

func isPoll(r harness.Request) bool {
	return strings.HasPrefix(r.Path, "/apis/external.metrics.k8s.io/")
}

func isScale(r harness.Request) bool { return r.Is(http.MethodPatch, "/scale") }

// A window's metric is polled once per interval while that window decides, and never otherwise.
func TestPollsOnlyInTheWindowAndOncePerInterval(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 0, "09:00", "12:00") // the fallback is not a rise, so only the first answer counts
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false", "--metric-interval=1h")
	s.AwaitReady(m)
	s.AwaitSettled(1, 0)
	polls := func(what string, want int) {
		t.Helper()
		if got := len(proxy.Requests(isPoll)); got != want {
			t.Errorf("%s: %d polls, want %d", what, got, want)
		}
	}
	polls("before the window", 0)
	s.SetClock("2025-01-27 09:00:00")
	s.AwaitSettled(1, 5) // five pods arrive, each of which can wake the scaler
	s.wakes(m, "2025-01-27 10:00:00", "2025-01-27 11:00:00")
	polls("in the window", 1)
	if got := proxy.Requests(isPoll)[0].Path; got != "/apis/external.metrics.k8s.io/v1beta1/namespaces/"+s.Namespace+"/queue_depth" {
		t.Errorf("polled %s", got)
	}
	s.SetClock("2025-01-27 12:00:00")
	s.AwaitSettled(1, 0)
	s.wakes(m, "2025-01-27 13:00:00", "2025-01-27 14:00:00")
	polls("after the window", 1)
	s.SetClock("2025-01-28 09:00:00")
	s.AwaitSettled(1, 5)
	polls("on the next day", 2)
	if got := len(proxy.Requests(isScale)); got != 3 {
		t.Errorf("got %d writes to the target, want 3: up, down, up", got)
	}
}

// wakes steps the clock, which makes the manager reconcile every scaler, and waits for each pass.
func (s *scenario) wakes(m *harness.Manager, times ...string) {
	s.Helper()
	for _, at := range times {
		passes := s.Sum(m, "controller_runtime_reconcile_total")
		s.SetClock(at)
		s.Until("another pass", func() bool { return s.Sum(m, "controller_runtime_reconcile_total") > passes })
	}
}

// A new value that leads to the same count costs its poll and no other request (B9).
func TestUnchangedProposalWritesNothing(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 3, "09:00", "17:00")
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false", "--metric-interval=1s")
	s.AwaitReady(m)
	s.AwaitSettled(1, 5)
	s.Until("the target at rest", func() bool { return s.resting() == 1 })
	s.Until("the status written", func() bool { return s.Sum(m, "workqueue_depth") == 0 })
	proxy.Forget()
	for i, value := range []string{"5100m", "5.2", "4900m"} {
		s.measured(fmt.Sprintf(`[{value: %q}]`, value))
		s.Until("two more polls", func() bool { return len(proxy.Requests(isPoll)) >= 2*(i+1) })
	}
	s.Until("the last value", func() bool { return s.Sum(m, "kyklos_external_metric_value") == 4.9 })
	others := proxy.Requests(func(r harness.Request) bool { return isCost(r) && !isPoll(r) })
	if len(others) > 0 {
		t.Errorf("got %d requests besides the polls, the first is %v", len(others), others[0])
	}
}

// A manager that is killed within a window and restarted while the metrics API fails keeps the last count of the metric,
// and uses the fallback after three misses as usual.
func TestRestartWhileTheMetricFails(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 3, "09:00", "17:00")
	first := s.Start(nil, "--leader-elect=false", "--metric-interval=1s")
	s.AwaitSettled(1, 5)
	s.Must(first.Kill())

	s.measured("error: the database is away")
	proxy := s.StartProxy()
	second := s.Start(proxy, "--leader-elect=false", "--metric-interval=1s")
	s.Until("the second miss", func() bool { return len(proxy.Requests(isPoll)) >= 2 })
	s.AwaitSettled(1, 3)
	if misses := s.Sum(second, "kyklos_external_metric_misses_total"); misses < 3 {
		t.Errorf("got the fallback after %v misses, want 3", misses)
	}
	if got := len(proxy.Requests(isScale)); got != 1 {
		t.Errorf("got %d writes to the target, want 1", got)
	}
}

// A metrics API that does not answer, with more scalers than are polled in parallel, delays neither them nor the flips
// of others.
func TestFlipsWhileTheMetricsAPIHangs(t *testing.T) {
	const polled, others = 40, 50
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	for i := range polled {
		s.metricPair(fmt.Sprintf("polled-%02d", i), 2, "08:30", "17:00")
	}
	for i := range others {
		s.CreatePair(fmt.Sprintf("other-%02d", i), 1, "08:30", "17:00")
	}
	proxy := s.StartProxy()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	proxy.Inject(func(r harness.Request, after bool) {
		if isPoll(r) && !after {
			<-release
		}
	})
	m := s.Start(proxy, "--leader-elect=false")
	s.AwaitReady(m)
	s.AwaitSettled(polled+others, 0)
	s.Until("every target at rest", func() bool { return s.resting() == polled+others })
	s.SetClock("2025-01-27 08:30:00")
	s.AwaitSettled(others, 1)
	t.Logf("%d flips took %.1f s in sum after their boundary, beside %d scalers whose metric hangs",
		others, s.Sum(m, "kyklos_boundary_lateness_seconds_sum"), polled)
	s.AwaitSettled(polled, 2)
	if got := len(proxy.Requests(isPoll)); got < 32 {
		t.Errorf("got %d hanging polls, want at least 32", got)
	}
}
