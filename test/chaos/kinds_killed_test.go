package chaos

import (
	"fmt"
	"net/http"
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The manager is killed before or after its write to a target of each kind, and before or after the write that ends a grace
// period. Started again, it writes what was not written, and nothing twice.
func TestKilledForEveryKind(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(map[bool]string{false: "before", true: "after"}[after], func(t *testing.T) {
			l := newLone(t)
			l.SetClock("2025-01-27 08:59:00")
			for i, kind := range fixtures.TargetKinds {
				l.officeHours(kind, kind.Resource, 3, fmt.Sprintf("09:0%d", i), "17:00")
			}
			l.officeHours(fixtures.Deployments, "closing", 2, "08:00", "09:00", func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = 3600 })
			l.start()
			l.awaitKinds(0)
			l.awaitCount(fixtures.Deployments, "closing", 2)
			for i, kind := range fixtures.TargetKinds {
				l.killedBy(kind, kind.Resource, 3, fmt.Sprintf("2025-01-27 09:0%d:00", i), after)
			}
			l.killedBy(fixtures.Deployments, "closing", 0, "2025-01-27 10:00:00", after)
		})
	}
}

// killedBy moves the clock to a boundary and kills the manager at its write.
func (l *lone) killedBy(kind fixtures.TargetKind, name string, replicas int32, clock string, after bool) {
	l.Helper()
	l.proxy.Forget()
	rule := l.proxy.Add(harness.Rule{
		Match: harness.Match{Verbs: []string{"patch"}, Resource: kind.Resource, Namespace: l.Namespace, Name: name}, Times: 1,
		Action: func(x harness.Exchange, forward func(http.ResponseWriter)) {
			defer func() { _ = l.manager.Kill() }()
			if after {
				harness.LoseAnswer()(x, forward)
			}
			harness.Drop()(x, forward)
		},
	})
	defer rule.Remove()
	l.SetClock(clock)
	l.Until("the manager killed at its write to "+name, func() bool {
		select {
		case <-l.manager.Done():
			return true
		default:
			return false
		}
	})
	l.start()
	l.awaitCount(kind, name, replicas)
	l.wroteOnly(kind, name, replicas)
}
