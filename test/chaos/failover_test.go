package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
)

// failover is how long after the boundary all was written.
func (s *scenario) failover(what string, took time.Duration) {
	s.Helper()
	bench.Record(s, bench.Figure{Area: "failover", What: what, Unit: "s", Value: took.Seconds()})
}

// fleet is the number of scalers that flip at the boundary: more than the leader has workers.
const fleet = 20

// The leader gets SIGTERM while it writes the flips of a boundary. It completes the writes that it has begun and releases
// its Lease. The standby takes over without waiting for the Lease to expire.
func TestLeaderStopped(t *testing.T) {
	s := newScenario(t)
	leader, standby, lease := s.leaderAndStandby(fleet)
	var once sync.Once
	leader.proxy.Inject(func(r harness.Request, answered bool) {
		if r.Is(http.MethodPatch, "/scale") && !answered {
			once.Do(func() { _ = leader.Signal(syscall.SIGTERM) })
		}
	})
	flip := time.Now()
	s.SetClock("2025-01-27 09:00:00")
	s.awaitWritten(fleet, 3)
	took := time.Since(flip)
	t.Logf("%d of %d flips by the standby", standby.arrived(), fleet)
	s.measured("F12", "leader told to end: all flips after the boundary", took)
	s.failover(fmt.Sprintf("SIGTERM: all %d changes", fleet), took)
	s.AwaitSettled(fleet, 3)
	s.written("web-", 1)
	<-leader.Done()
	s.Until("the standby as leader", func() bool { return lease.startsWith("leader", "", "standby") })
}

// The leader is killed at the boundary, before or after its first write. Its Lease expires, and the standby writes the rest
// and nothing else. A grace period that has just begun ends on time.
func TestLeaderKilled(t *testing.T) {
	for _, after := range []bool{false, true} {
		moment := map[bool]string{false: "before", true: "after"}[after]
		t.Run(moment+" a write", func(t *testing.T) {
			s := newScenario(t)
			s.SetClock("2025-01-27 08:59:00")
			s.CreatePair("closing", 2, "08:00", "09:00")
			s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("closing")}, `{"spec":{"gracePeriodSeconds":300}}`)
			leader, _, lease := s.leaderAndStandby(fleet)
			s.AwaitSettled(1, 2)
			var once sync.Once
			leader.proxy.Inject(func(r harness.Request, answered bool) {
				if r.Is(http.MethodPatch, "/scale") && answered == after {
					once.Do(func() { _ = leader.Kill() })
				}
			})
			flip := time.Now()
			s.SetClock("2025-01-27 09:00:00")
			s.awaitWritten(fleet, 3)
			took := time.Since(flip)
			s.measured("F12", "leader killed "+moment+" a write: all flips after the boundary", took)
			s.failover(fmt.Sprintf("SIGKILL %s a write: all %d changes", moment, fleet), took)
			s.AwaitSettled(fleet, 3)
			s.written("web-", 1)
			if !lease.startsWith("leader", "standby") {
				t.Error("the Lease did not expire before it was taken")
			}
			s.SetClock("2025-01-27 09:10:00")
			s.AwaitSettled(1, 0)
			s.written("closing", 2)
		})
	}
}

// freezeAtScale stops the leader's process at its next write to a target, which the proxy keeps. thaw sends the write, and
// continues the process when the API server has answered: a resumed process gives a write up that has taken too long.
func (s *scenario) freezeAtScale(leader *replica) (frozen <-chan struct{}, thaw func()) {
	s.Helper()
	stopped, release, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var freeze, answer sync.Once
	wake := sync.OnceFunc(func() { close(release) })
	s.Cleanup(wake)
	leader.proxy.Inject(func(r harness.Request, after bool) {
		if !r.Is(http.MethodPatch, "/scale") {
			return
		}
		if after {
			answer.Do(func() { close(answered) })
			return
		}
		freeze.Do(func() {
			_ = leader.Signal(syscall.SIGSTOP)
			close(stopped)
			<-release
		})
	})
	return stopped, func() {
		s.Helper()
		wake()
		<-answered
		s.Must(leader.Signal(syscall.SIGCONT))
		s.Until("the old leader restarting", func() bool { return strings.Contains(s.ManagerLog.String(), "stopped; restarting") })
		s.AwaitReady(leader.Manager)
	}
}

// The leader freezes during a write, for longer than its Lease lasts. The standby takes over, and a user scales the target.
// Then the old leader resumes and sends its write. The API server refuses it, and the old leader writes nothing more.
func TestFrozenLeaderResumes(t *testing.T) {
	s := newScenario(t)
	leader, standby, lease := s.leaderAndStandby(1)
	frozen, thaw := s.freezeAtScale(leader)
	flip := time.Now()
	s.SetClock("2025-01-27 09:00:00")
	<-frozen
	s.awaitWritten(1, 3)
	took := time.Since(flip)
	s.measured("F11", "leader frozen: the flip after the boundary", took)
	s.failover("SIGSTOP: the change", took)
	s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("web-00")}, `{"spec":{"pause":true}}`)
	s.awaitObserved("web-00")
	s.Patch(&appsv1.Deployment{ObjectMeta: s.Named("web-00")}, `{"spec":{"replicas":7}}`)

	thaw()
	s.written("web-", 2) // the flip and the user
	s.awaitWritten(1, 7)
	s.eachWroteOnce(leader, standby)
	if !lease.startsWith("leader", "standby") {
		t.Error("the Lease did not expire before it was taken")
	}
}

// As before, but meanwhile the spec is edited so that the target happens to be right, and the new leader does not write it. The late
// write of the old leader then meets the version that it was decided for, and no precondition can refuse it. The new leader sees it and
// corrects it, once.
func TestFrozenLeaderResumesBeforeATargetThatWasRight(t *testing.T) {
	s := newScenario(t)
	leader, standby, lease := s.leaderAndStandby(1)
	frozen, thaw := s.freezeAtScale(leader)
	s.SetClock("2025-01-27 09:00:00")
	<-frozen
	s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("web-00")}, `{"spec":{"windows":[{"days":["Mon"],"start":"10:00","end":"17:00","replicas":3}]}}`)
	s.awaitObserved("web-00")
	s.written("web-", 0)

	thaw()
	s.awaitWritten(1, 0)
	s.AwaitSettled(1, 0)
	s.written("web-", 2) // the late write, and its correction
	s.eachWroteOnce(leader, standby)
	if !lease.startsWith("leader", "standby") {
		t.Error("the Lease did not expire before it was taken")
	}
}

// eachWroteOnce checks that the old leader has sent the late write to a target and no other, and that one of the new one's has arrived.
func (s *scenario) eachWroteOnce(leader, standby *replica) {
	s.Helper()
	if late, arrived := len(leader.sent()), standby.arrived(); late != 1 || arrived != 1 {
		s.Errorf("got %d writes of the old leader and %d of the new one, want one of each", late, arrived)
	}
}

// awaitObserved waits until a manager has observed the scaler's last change.
func (s *scenario) awaitObserved(name string) {
	s.Helper()
	s.Until("the change of "+name+" observed", func() bool {
		tws := &v1beta1.TimeWindowScaler{}
		s.Get(s.Namespace, name, tws)
		return tws.Status.ObservedGeneration == tws.Generation
	})
}
