package chaos

import (
	"syscall"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The manager is away over 1, 3 and 201 boundaries, and a year. Started again, it writes the count of now, once, and needs
// as few passes as after a minute: it replays nothing.
func TestAwayOverBoundaries(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	l.start()
	l.awaitCount(fixtures.Deployments, "web", 0)
	for _, c := range []struct {
		over, clock string
		replicas    int32
	}{
		{"1 boundary", "2025-01-27 12:00:00", 3},
		{"3 boundaries", "2025-01-28 18:00:00", 0},
		{"201 boundaries", "2025-06-18 12:00:00", 3},
		{"a year", "2026-06-20 12:00:00", 0},
	} {
		l.Must(l.manager.Stop())
		l.proxy.Forget()
		l.SetClock(c.clock)
		l.start()
		l.awaitCount(fixtures.Deployments, "web", c.replicas)
		l.AwaitSettled(1, c.replicas)
		l.wroteOnly(fixtures.Deployments, "web", c.replicas)
		if passes := l.Sum(l.manager, "controller_runtime_reconcile_total"); passes > 20 {
			t.Errorf("after %s: got %v passes, want at most 20", c.over, passes)
		}
		l.measured("F9", "CPU seconds of a start after "+c.over, l.Sum(l.manager, "process_cpu_seconds_total"))
	}
}

// The process is suspended for half an hour, its clock steps an hour forward and back and 400 days forward, and a boundary
// comes by itself. Each time the target gets the count of that time, and never before it is due.
func TestClockOfAProcess(t *testing.T) {
	l := newLone(t)
	var shift time.Duration
	set := func(utc string) {
		at, err := time.Parse(time.DateTime, utc)
		l.Must(err)
		shift = time.Until(at)
		l.Must(l.Clock.Shift(shift))
	}
	set("2025-01-27 08:40:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	l.start()
	l.AwaitSettled(1, 0)

	l.Must(l.manager.Signal(syscall.SIGSTOP))
	set("2025-01-27 09:10:00")
	l.Must(l.manager.Signal(syscall.SIGCONT))
	l.AwaitSettled(1, 3)
	for _, step := range []struct {
		clock    string
		replicas int32
	}{
		{"2025-01-27 08:10:00", 0}, {"2025-01-27 09:10:00", 3}, {"2026-03-02 18:00:00", 0}, // 400 days later, and eight hours
	} {
		set(step.clock)
		began := time.Now()
		l.AwaitSettled(1, step.replicas)
		l.measured("F10", "step of the clock to "+step.clock+": settled after", time.Since(began))
	}
	l.wroteOnly(fixtures.Deployments, "web", 3, 0, 3, 0)

	l.proxy.Forget()
	set("2026-03-03 08:59:57")
	l.AwaitSettled(1, 3)
	boundary := time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC).Add(-shift)
	for _, r := range l.sent(fixtures.Deployments, "web") {
		late := r.At.Sub(boundary)
		if late < 0 {
			t.Errorf("a write came %s before its boundary", -late)
		}
		l.measured("F10", "write after its boundary", late)
	}
}

// The store is frozen over a boundary, and then slow over the next one. The API server answers late or not at all. When
// the store is back, everything due happens, once.
func TestStoreFrozenAndSlow(t *testing.T) {
	s := newScenario(t)
	l := &lone{scenario: s, proxy: s.StartProxy()}
	l.SetClock("2025-01-27 08:59:00")
	l.everyKind()
	l.start()
	l.awaitKinds(0)
	l.proxy.Forget()

	l.Must(etcd.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = etcd.Signal(syscall.SIGCONT) })
	l.SetClock("2025-01-27 09:00:00")
	time.Sleep(lasts(8*time.Second, 30*time.Second)) // the fault's length
	l.Must(etcd.Signal(syscall.SIGCONT))
	began := time.Now()
	l.afterFault(3, func() { l.awaitKinds(3) })
	l.measured("F6", "store frozen: recovered after", time.Since(began))

	end := etcd.Slow()
	l.SetClock("2025-01-27 17:00:00")
	time.Sleep(lasts(5*time.Second, 30*time.Second)) // the fault's length
	l.Must(end())
	began = time.Now()
	l.afterFault(0, func() { l.awaitKinds(0) })
	l.measured("F6", "store slow: recovered after", time.Since(began))
	for _, kind := range fixtures.TargetKinds {
		l.wroteOnly(kind, kind.Resource, 3, 0)
	}
	select {
	case <-l.manager.Done():
		t.Error("the manager exited")
	default:
	}
}

// The store is full, and refuses writes. The manager lives. When there is room again, what is due happens.
func TestStoreFull(t *testing.T) {
	t.Parallel()
	store, err := harness.StartEtcd(t.Context(), t.TempDir(), "--quota-backend-bytes=16777216")
	harness.Must(t, err)
	t.Cleanup(func() { _ = store.Kill() })
	s := &scenario{fixtures.NewScaling(t, installation.OwnCluster(t, store.OnEtcd()...))}
	l := &lone{scenario: s, proxy: s.StartProxy()}
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	l.start()
	l.awaitCount(fixtures.Deployments, "web", 0)

	block := make([]byte, 1<<20)
	full := func() bool {
		return store.Call(t.Context(), "kv/put", map[string]any{"key": []byte("ballast"), "value": block}, nil) != nil
	}
	l.Until("the store full", full)
	l.SetClock("2025-01-27 09:00:00")
	l.Until("a refused write", func() bool { return len(l.sent(fixtures.Deployments, "web")) > 0 })

	l.makeRoom(store)
	began := time.Now()
	l.afterFault(3, func() { l.awaitCount(fixtures.Deployments, "web", 3) })
	l.measured("F22", "room in the store again: recovered after", time.Since(began))
	l.wroteOnly(fixtures.Deployments, "web", 3)
	select {
	case <-l.manager.Done():
		t.Error("the manager exited")
	default:
	}
}

// makeRoom deletes what a full store no longer needs, and lets it take writes again.
func (l *lone) makeRoom(store *harness.Etcd) {
	l.Helper()
	var head struct {
		Header struct {
			Revision string
			Member   string `json:"member_id"`
		}
	}
	l.Must(store.Call(l.Context(), "kv/range", map[string]any{"key": []byte("ballast"), "count_only": true}, &head))
	l.Must(store.Call(l.Context(), "kv/compaction", map[string]any{"revision": head.Header.Revision, "physical": true}, nil))
	l.Must(store.Call(l.Context(), "maintenance/defragment", map[string]any{}, nil))
	l.Must(store.Call(l.Context(), "maintenance/alarm", map[string]any{"action": "DEACTIVATE", "alarm": "NOSPACE", "memberID": head.Header.Member}, nil))
}
