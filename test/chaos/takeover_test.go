package chaos

import (
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// The standby's watch of scalers is frozen when a spec is edited, and still is when it takes over. It does not return to the spec
// that its cache has.
func TestStandbyWithAFrozenWatchTakesOver(t *testing.T) {
	s := newScenario(t)
	leader, standby, lease := s.leaderAndStandby(1)
	s.SetClock("2025-01-27 09:00:00")
	s.AwaitSettled(1, 3)
	defer standby.proxy.HoldEvents(harness.Match{Resource: "timewindowscalers"})()
	s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("web-00")}, `{"spec":{"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":7}]}}`)
	s.AwaitSettled(1, 7)

	s.Must(leader.Stop())
	s.Until("the standby as leader", func() bool { return lease.startsWith("leader", "", "standby") })
	s.SetClock("2025-01-27 17:00:00")
	s.awaitWritten(1, 0)
	s.written("web-", 3) // both counts of the window, and its end
}
