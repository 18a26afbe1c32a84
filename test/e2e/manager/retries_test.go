package manager

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/test/harness"
)

// Trouble of the API server itself passes, so what it keeps from being done is tried again every few seconds, for as long
// as it takes.
func TestTransientFailuresAreRetriedSoon(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	codes := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}
	for _, code := range codes {
		s.CreatePair(fmt.Sprintf("web-%d", code), 1, "08:30", "17:00")
	}
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(m)
	s.AwaitSettled(len(codes), 0)
	var rules []*harness.Injection
	for _, code := range codes {
		rules = append(rules, proxy.Add(harness.Rule{
			Match:  harness.Match{Resource: "deployments", Subresource: "scale", Namespace: s.Namespace, Name: fmt.Sprintf("web-%d", code)},
			Action: harness.Answer(code),
		}))
	}
	s.SetClock("2025-01-27 08:30:00")
	for i, rule := range rules {
		s.Until(fmt.Sprintf("the fifth request answered with %d", codes[i]), func() bool { return rule.Hits() >= 5 })
	}
	for _, rule := range rules {
		rule.Remove()
	}
	back := time.Now()
	s.AwaitSettled(len(codes), 1)
	t.Logf("settled %s after the API server was back", time.Since(back).Round(10*time.Millisecond))
}

// An aggregated API that answers 503 while the API server is ready is asked again and again, however often its scalers
// are woken meanwhile.
func TestWakeUpsDoNotSpendTheRetries(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	s.allowed()
	s.controlled("web")
	proxy := s.StartProxy()
	away := proxy.Add(harness.Rule{
		Match:  harness.Match{Resource: "replicationcontrollers", Subresource: "scale", Namespace: s.Namespace},
		Action: harness.Answer(http.StatusServiceUnavailable),
	})
	m := s.Start(proxy, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(m)
	for i := range 6 { // changes of the target wake its scaler
		passes := s.Sum(m, "kyklos_reconcile_duration_seconds_count")
		rc := &corev1.ReplicationController{ObjectMeta: s.Named("web")}
		s.Patch(rc, fmt.Sprintf(`{"metadata":{"annotations":{"change":"%d"}}}`, i))
		s.Until("a pass", func() bool { return s.Sum(m, "kyklos_reconcile_duration_seconds_count") > passes })
	}
	hits := away.Hits()
	s.Until("further requests", func() bool { return away.Hits() >= hits+4 })
	s.awaitCondition("web", "Ready", "Unknown/TargetUnavailable")
	s.awaitCondition("web", "Degraded", "True/TargetUnavailable")
	s.awaitEvent("web", "TargetUnavailable")
	away.Remove()
	s.awaitControlled(2)
}
