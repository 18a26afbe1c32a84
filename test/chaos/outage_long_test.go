package chaos

import (
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The API server is away over a boundary for eleven minutes, longer than any back-off lasts. The flip happens as soon as
// it is back.
func TestAPIServerDownForLong(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.everyKind()
	l.start()
	l.awaitKinds(0)
	l.proxy.Forget()
	l.proxy.Break(true)
	l.SetClock("2025-01-27 09:00:00")
	time.Sleep(lasts(3*time.Second, 11*time.Minute)) // the fault's length
	l.proxy.Break(false)
	began := time.Now()
	l.afterFault(3, func() { l.awaitKinds(3) })
	l.measured("F5", "API server unreachable for "+lasts(3*time.Second, 11*time.Minute).String()+": recovered after", time.Since(began))
	for _, kind := range fixtures.TargetKinds {
		l.wroteOnly(kind, kind.Resource, 3)
	}
}

// Targets and scalers are recreated while the manager's watches are cut, and then the API server restarts, so that it
// knows nothing of the time before: it answers the watches with a real 410, and the manager lists again.
func TestWatchesExpireAfterARestart(t *testing.T) {
	t.Parallel()
	s := &scenario{fixtures.NewScaling(t, installation.OwnCluster(t))}
	l := &lone{scenario: s, proxy: s.StartProxy()}
	l.SetClock("2025-01-27 08:59:00")
	kind := fixtures.Deployments
	l.officeHours(kind, kind.Resource, 3, "09:00", "17:00")
	l.start()
	l.awaitCount(kind, kind.Resource, 0)

	l.proxy.Break(true)
	l.recreate(kind, 7, 4)
	l.Must(l.Cluster.Kill())
	again, err := harness.Start(t.Context(), l.Cluster.Dir)
	l.Must(err)
	l.Cluster.Adopt(again)
	l.SetClock("2025-01-27 09:00:00")
	l.proxy.Forget()
	l.proxy.Break(false)
	l.awaitCount(kind, kind.Resource, 4)
	l.wroteOnly(kind, kind.Resource, 4)
	lists := l.proxy.Requests(func(r harness.Request) bool {
		return r.Resource == "timewindowscalers" && (r.Verb == "list" || strings.Contains(r.Query, "sendInitialEvents=true"))
	})
	if len(lists) == 0 {
		t.Error("the manager's watches did not expire: it listed nothing again")
	}
}
