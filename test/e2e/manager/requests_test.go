package manager

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// A thousand scalers without a due boundary cost no request, although each of them is reconciled. A boundary costs each
// scaler that flips one write to the target and one to the status.
func TestSteadyStateCostsNothing(t *testing.T) {
	const all, flipping = 1000, 50
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	for i := range all {
		start := "12:00"
		if i < flipping {
			start = "09:00"
		}
		s.CreatePair(fmt.Sprintf("web-%04d", i), 1, start, "17:00")
	}
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false")
	s.AwaitReady(m)
	s.AwaitSettled(all, 0)
	s.Until("the queue empty", func() bool { return s.Sum(m, "workqueue_depth") == 0 })
	// A write of the target's own controller could make a flip conflict.
	s.Until("every target at rest", func() bool { return s.resting() == all })

	proxy.Forget()
	before := s.Sum(m, "controller_runtime_reconcile_total")
	s.SetClock("2025-01-27 08:30:00")
	s.Until("every scaler reconciled", func() bool { return s.Sum(m, "controller_runtime_reconcile_total") >= before+all })
	if sent := proxy.Requests(isCost); len(sent) > 0 {
		t.Errorf("a steady state sent %d requests, the first being %v", len(sent), sent[0])
	}

	proxy.Forget()
	s.SetClock("2025-01-27 09:00:00")
	s.AwaitSettled(flipping, 1)
	scales := proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPatch, "/scale") })
	statuses := proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPatch, "/status") })
	events := proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPost, "/events") })
	t.Logf("%d flips among %d scalers: %d scale writes, %d status writes, %d events, %d requests in all",
		flipping, all, len(scales), len(statuses), len(events), len(proxy.Requests(isCost)))
	if len(scales) != flipping {
		t.Errorf("got %d scale writes for %d flips", len(scales), flipping)
	}
	// A target that takes longer than the hold costs a second status write.
	if len(statuses) < flipping || len(statuses) > 2*flipping {
		t.Errorf("got %d status writes for %d flips", len(statuses), flipping)
	}
	// On a machine so busy that a cache is behind for seconds, the object is read from the API server.
	others := proxy.Requests(func(r harness.Request) bool {
		return isCost(r) && !r.Is(http.MethodPatch, "/scale") && !r.Is(http.MethodPatch, "/status") && !r.Is(http.MethodPost, "/events")
	})
	reads := proxy.Requests(func(r harness.Request) bool { return isCost(r) && r.Method == http.MethodGet })
	if len(others) > len(reads) || len(reads) > flipping {
		t.Errorf("other requests: %v", others)
	}
}

// isCost ignores watches. This manager uses no Lease.
func isCost(r harness.Request) bool { return !r.Watch }

// resting counts the Deployments whose rollout is complete.
func (s *scenario) resting() int {
	s.Helper()
	var list appsv1.DeploymentList
	s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
	count := 0
	for i := range list.Items {
		status := &list.Items[i].Status
		if status.ObservedGeneration == list.Items[i].Generation && slices.ContainsFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable"
		}) {
			count++
		}
	}
	return count
}
