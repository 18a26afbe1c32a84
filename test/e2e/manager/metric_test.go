package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// metricPair is pair with a metric: one replica for each of queue_depth, at most 20.
func (s *stage) metricPair(name string, fallback int32, start, end string) {
	s.Helper()
	s.pair(name, fallback, start, end)
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	patch := `{"spec":{"windows":[{"days":["Mon","Tue","Wed","Thu","Fri"],"start":%q,"end":%q,"replicas":%d,
		"metric":{"name":"queue_depth","target":{"type":"AverageValue","averageValue":"1"},"maxReplicas":20}}]}}`
	s.must(admin.Patch(s.Context(), tws, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, patch, start, end, fallback))))
}

// measured sets what the control plane's metrics API says of queue_depth.
func (s *stage) measured(says string) {
	s.Helper()
	s.must(cluster.WriteExternalMetrics(s.Context(), s.namespace, map[string]string{"queue_depth": says}))
}

func isPoll(r harness.Request) bool {
	return strings.HasPrefix(r.Path, "/apis/external.metrics.k8s.io/")
}

func isScale(r harness.Request) bool { return r.Is(http.MethodPatch, "/scale") }

// A window's metric is asked for while that window decides, once per interval whatever else happens, and
// at no other time.
func TestPollsOnlyInTheWindowAndOncePerInterval(t *testing.T) {
	s := newStage(t)
	s.clock("2025-01-27 08:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 0, "09:00", "12:00") // a fallback that is no rise: the first answer alone decides
	proxy := s.proxy()
	m := s.manager(proxy, "--leader-elect=false", "--metric-interval=1h")
	s.awaitReady(m)
	s.awaitSettled(1, 0)
	polls := func(what string, want int) {
		t.Helper()
		if got := len(proxy.Requests(isPoll)); got != want {
			t.Errorf("%s: %d polls, want %d", what, got, want)
		}
	}
	polls("before the window", 0)
	s.clock("2025-01-27 09:00:00")
	s.awaitSettled(1, 5) // five pods arrive, each of which can wake the scaler
	s.wakes(m, "2025-01-27 10:00:00", "2025-01-27 11:00:00")
	polls("in the window", 1)
	if got := proxy.Requests(isPoll)[0].Path; got != "/apis/external.metrics.k8s.io/v1beta1/namespaces/"+s.namespace+"/queue_depth" {
		t.Errorf("asked for %s", got)
	}
	s.clock("2025-01-27 12:00:00")
	s.awaitSettled(1, 0)
	s.wakes(m, "2025-01-27 13:00:00", "2025-01-27 14:00:00")
	polls("after the window", 1)
	s.clock("2025-01-28 09:00:00")
	s.awaitSettled(1, 5)
	polls("on the next day", 2)
	if got := len(proxy.Requests(isScale)); got != 3 {
		t.Errorf("%d writes to the target, want 3: up, down, up", got)
	}
}

// wakes steps the clock, which makes the manager look at every scaler, and waits for each look.
func (s *stage) wakes(m *harness.Manager, times ...string) {
	s.Helper()
	for _, at := range times {
		looked := s.sum(m, "controller_runtime_reconcile_total")
		s.clock(at)
		s.eventually("another look", func() bool { return s.sum(m, "controller_runtime_reconcile_total") > looked })
	}
}

// A value that changes and asks for the same count costs its poll and no other request (B9).
func TestAValueThatAsksForTheSameWritesNothing(t *testing.T) {
	s := newStage(t)
	s.clock("2025-01-27 10:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 3, "09:00", "17:00")
	proxy := s.proxy()
	m := s.manager(proxy, "--leader-elect=false", "--metric-interval=1s")
	s.awaitReady(m)
	s.awaitSettled(1, 5)
	s.eventually("the target at rest", func() bool { return s.resting() == 1 })
	s.eventually("the status written", func() bool { return s.sum(m, "workqueue_depth") == 0 })
	proxy.Forget()
	for i, value := range []string{"5100m", "5.2", "4900m"} {
		s.measured(fmt.Sprintf(`[{value: %q}]`, value))
		s.eventually("two more polls", func() bool { return len(proxy.Requests(isPoll)) >= 2*(i+1) })
	}
	s.eventually("the last value", func() bool { return s.sum(m, "kyklos_external_metric_value") == 4.9 })
	others := proxy.Requests(func(r harness.Request) bool { return isCost(r) && !isPoll(r) })
	if len(others) > 0 {
		t.Errorf("%d requests beside the polls, the first being %v", len(others), others[0])
	}
}

// A manager that is killed in the middle of a window, and starts while the metrics API fails, keeps the
// count that the metric last asked for, and then goes to the fallback as after any three misses.
func TestRestartWhileTheMetricFails(t *testing.T) {
	s := newStage(t)
	s.clock("2025-01-27 10:00:00")
	s.measured(`[{value: "5"}]`)
	s.metricPair("web", 3, "09:00", "17:00")
	first := s.manager(nil, "--leader-elect=false", "--metric-interval=1s")
	s.awaitSettled(1, 5)
	s.must(first.Kill())

	s.measured("error: the database is away")
	proxy := s.proxy()
	second := s.manager(proxy, "--leader-elect=false", "--metric-interval=1s")
	s.eventually("the second miss", func() bool { return len(proxy.Requests(isPoll)) >= 2 })
	s.awaitSettled(1, 3)
	if misses := s.sum(second, "kyklos_external_metric_misses_total"); misses < 3 {
		t.Errorf("the fallback came after %v misses", misses)
	}
	if got := len(proxy.Requests(isScale)); got != 1 {
		t.Errorf("%d writes to the target, want 1", got)
	}
}

// A metrics API that answers nothing, asked for by more scalers than are polled at once, holds up neither
// them nor the flips of others.
func TestFlipsWhileTheMetricsAPIHangs(t *testing.T) {
	const polled, others = 40, 50
	s := newStage(t)
	s.clock("2025-01-27 08:00:00")
	for i := range polled {
		s.metricPair(fmt.Sprintf("polled-%02d", i), 2, "08:30", "17:00")
	}
	for i := range others {
		s.pair(fmt.Sprintf("other-%02d", i), 1, "08:30", "17:00")
	}
	proxy := s.proxy()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	proxy.Inject(func(r harness.Request, after bool) {
		if isPoll(r) && !after {
			<-release
		}
	})
	m := s.manager(proxy, "--leader-elect=false")
	s.awaitReady(m)
	s.awaitSettled(polled+others, 0)
	s.eventually("every target at rest", func() bool { return s.resting() == polled+others })
	s.clock("2025-01-27 08:30:00")
	s.awaitSettled(others, 1)
	t.Logf("%d flips took %.1f s in sum after their boundary, beside %d scalers whose metric hangs",
		others, s.sum(m, "kyklos_boundary_lateness_seconds_sum"), polled)
	s.awaitSettled(polled, 2)
	if got := len(proxy.Requests(isPoll)); got < 32 {
		t.Errorf("only %d polls hung", got)
	}
}
