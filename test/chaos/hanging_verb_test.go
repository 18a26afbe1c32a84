package chaos

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The API server is ready, but does not answer a PATCH over a boundary. Later ones are answered again, and those that were sent
// before never are. Everything due happens while these still hang: nothing waits until they are given up.
func TestPatchesAreNeverAnswered(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.everyKind()
	l.start()
	l.awaitKinds(0)
	l.proxy.Forget()

	var hanging, hung atomic.Int32
	swallow := harness.Swallow()
	fault := l.proxy.Add(harness.Rule{Match: harness.Match{Verbs: []string{"patch"}}, Action: func(x harness.Exchange, forward func(http.ResponseWriter)) {
		if strings.Contains(x.Request.URL.Path, "/deployments/") {
			hanging.Add(1)
			defer hanging.Add(-1)
		}
		swallow(x, forward)
	}})
	defer fault.Remove()
	l.proxy.Inject(func(r harness.Request, answered bool) {
		if answered && r.Verb == "patch" && r.Resource == fixtures.Deployments.Resource && r.Code == http.StatusOK {
			hung.Store(hanging.Load())
		}
	})
	l.SetClock("2025-01-27 09:00:00")
	l.Until("a PATCH of every kind", func() bool { return fault.Hits() >= len(fixtures.TargetKinds) })
	length := lasts(0, time.Minute)
	time.Sleep(length) // the fault's length
	fault.Remove()
	ended := time.Now()
	l.awaitKinds(3)
	l.measured("F4", "PATCH never answered for "+length.String()+": recovered after", time.Since(ended))
	if length == 0 && hung.Load() == 0 { // in a long fault, those that were sent first are given up
		t.Error("the write was sent again only when the one that was never answered had been given up")
	}
	for _, kind := range fixtures.TargetKinds {
		l.wroteOnly(kind, kind.Resource, 3)
	}
}
