package manager

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// At rest a leader sends nothing but the renewals of its Lease, however many scalers there are, and the next one writes
// nothing when it starts.
func TestRestCostsTheLease(t *testing.T) {
	const all, renewals = 200, 6
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	for i := range all {
		s.CreatePair(fmt.Sprintf("web-%03d", i), 1, "12:00", "17:00")
	}
	proxy := s.StartProxy()
	const withoutMigration = "--storage-migration=false" // a new leader looks for stored versions once
	first := s.Start(proxy, withoutMigration)
	s.AwaitReady(first)
	s.AwaitSettled(all, 0)
	s.Until("every target at rest", func() bool { return s.resting() == all })
	s.atRest(first, all)

	proxy.Forget()
	s.Until("the Lease renewed", func() bool { return len(proxy.Requests(isRenewal)) >= renewals })
	for _, sent := range proxy.Requests(func(r harness.Request) bool { return !r.Watch && !isRenewal(r) }) {
		t.Errorf("at rest the manager sent %v", sent)
	}

	s.Must(first.Stop())
	proxy.Forget()
	second := s.Start(proxy, withoutMigration)
	s.AwaitReady(second)
	s.atRest(second, all)
	for _, sent := range proxy.Requests(func(r harness.Request) bool { return r.Method != http.MethodGet && r.Namespace == s.Namespace }) {
		t.Errorf("the manager started and sent %v", sent)
	}
}

// atRest waits until the manager has reconciled so many scalers and has nothing to do.
func (s *scenario) atRest(m *harness.Manager, scalers int) {
	s.Helper()
	s.slowly("every scaler reconciled", func() bool {
		return s.Sum(m, "controller_runtime_reconcile_total") >= float64(scalers) && s.Sum(m, "workqueue_depth") == 0
	})
}

func isRenewal(r harness.Request) bool {
	return (r.Method == http.MethodPut || r.Method == http.MethodPatch) && strings.Contains(r.Path, "/leases/")
}
