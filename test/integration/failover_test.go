package integration

import (
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/controlplane"
)

// fleet is how many scalers flip at the boundary at which the leader goes: more than it has workers.
const fleet = 20

// The leader is told to stop while it writes the flips of a boundary. It ends what it has begun and gives its
// Lease back, and the other goes on without waiting for the Lease to run out.
func TestLeaderToldToStop(t *testing.T) {
	s := newStage(t)
	leader, standby, lease := s.leaderAndStandby(fleet)
	var once sync.Once
	leader.proxy.Inject(func(r controlplane.Request, answered bool) {
		if r.Is(http.MethodPatch, "/scale") && !answered {
			once.Do(func() { _ = leader.Signal(syscall.SIGTERM) })
		}
	})
	flip := time.Now()
	s.clock("2025-01-27 09:00:00")
	s.awaitWritten(fleet, 3)
	t.Logf("SIGTERM at the boundary: all %d flips within %.2f s, %d of them by the standby", fleet, time.Since(flip).Seconds(), standby.scales())
	s.awaitSettled(fleet, 3)
	s.written("web-", 1)
	<-leader.Done()
	s.eventually("the standby lead", func() bool { return lease.began("leader", "", "standby") })
}

// The leader is killed at the boundary, before or after its first write. Its Lease runs out, and the other
// does what is left, and only that. A grace period that had just begun ends as it should.
func TestLeaderKilled(t *testing.T) {
	for _, after := range []bool{false, true} {
		moment := map[bool]string{false: "before", true: "after"}[after]
		t.Run(moment+" a write", func(t *testing.T) {
			s := newStage(t)
			s.clock("2025-01-27 08:59:00")
			s.pair("closing", 2, "08:00", "09:00")
			s.patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.named("closing")}, `{"spec":{"gracePeriodSeconds":300}}`)
			leader, _, lease := s.leaderAndStandby(fleet)
			s.awaitSettled(1, 2)
			var once sync.Once
			leader.proxy.Inject(func(r controlplane.Request, answered bool) {
				if r.Is(http.MethodPatch, "/scale") && answered == after {
					once.Do(func() { _ = leader.Kill() })
				}
			})
			flip := time.Now()
			s.clock("2025-01-27 09:00:00")
			s.awaitWritten(fleet, 3)
			t.Logf("SIGKILL at the boundary: all %d flips within %.2f s", fleet, time.Since(flip).Seconds())
			s.awaitSettled(fleet, 3)
			s.written("web-", 1)
			if !lease.began("leader", "standby") {
				t.Error("the Lease did not run out before it was taken")
			}
			s.clock("2025-01-27 09:10:00")
			s.awaitSettled(1, 0)
			s.written("closing", 2)
		})
	}
}

// The leader freezes with a write under way, for longer than its Lease lasts. The other leads, and a person
// takes the target over; then the old leader wakes up and its write arrives. The write is refused, and the
// old leader writes nothing more and follows.
func TestFrozenLeaderWakesUp(t *testing.T) {
	s := newStage(t)
	leader, standby, lease := s.leaderAndStandby(1)
	frozen, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	wake := sync.OnceFunc(func() { close(release) })
	t.Cleanup(wake)
	leader.proxy.Inject(func(r controlplane.Request, answered bool) {
		if r.Is(http.MethodPatch, "/scale") && !answered {
			once.Do(func() {
				_ = leader.Signal(syscall.SIGSTOP)
				close(frozen)
				<-release
			})
		}
	})
	flip := time.Now()
	s.clock("2025-01-27 09:00:00")
	<-frozen
	s.awaitWritten(1, 3)
	t.Logf("SIGSTOP at the boundary: the flip within %.2f s", time.Since(flip).Seconds())
	s.patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.named("web-00")}, `{"spec":{"pause":true}}`)
	s.awaitObserved("web-00")
	s.patch(&appsv1.Deployment{ObjectMeta: s.named("web-00")}, `{"spec":{"replicas":7}}`)

	wake()
	s.must(leader.Signal(syscall.SIGCONT))
	s.eventually("the old leader restarting", func() bool { return strings.Contains(s.log.String(), "stopped; restarting") })
	s.awaitReady(leader.Manager)
	s.written("web-", 2) // the flip and the person
	s.awaitWritten(1, 7)
	if first, second := leader.scales(), standby.scales(); first != 1 || second != 1 {
		t.Errorf("the old leader wrote %d times and the new one %d, want the frozen write and the flip", first, second)
	}
	if !lease.began("leader", "standby") {
		t.Error("the Lease did not run out before it was taken")
	}
}

func (s *stage) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

// awaitObserved waits until the scaler's last change is the one that a manager has looked at.
func (s *stage) awaitObserved(name string) {
	s.Helper()
	s.eventually("the change of "+name+" observed", func() bool {
		tws := &v1beta1.TimeWindowScaler{}
		s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, tws))
		return tws.Status.ObservedGeneration == tws.Generation
	})
}
