package timewindowscaler

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// exactly is a reconciler without jitter, so that waits can be compared.
func exactly(t *testing.T, s *scenario) (*Reconciler, reconcile.Request, *scalerState) {
	r := &Reconciler{Requeue: Requeue{Max: 24 * time.Hour}, outage: &failure.Outage{}, metrics: &extmetric.Poller{}}
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.tws)}
	t.Cleanup(func() { metrics.Forget(request.NamespacedName) })
	return r, request, r.memory.of(request.NamespacedName)
}

func expectDelay(t *testing.T, what string, got reconcile.Result, err error, want time.Duration) {
	t.Helper()
	if err != nil || got.RequeueAfter != want || ptr.Deref(got.Priority, 0) != boundaryPriority {
		t.Errorf("%s: after %s with priority %v, error %v; want after %s", what, got.RequeueAfter, got.Priority, err, want)
	}
}

// The wait after a pass that reported: the wake-up, or the fixed delay of what is wrong (B5, B10).
func TestWaitsAfterAPass(t *testing.T) {
	for name, tc := range map[string]struct {
		setUp func(*scenario)
		want  time.Duration
	}{
		"in order":                 {func(*scenario) {}, 3 * time.Hour},
		"paused (R10)":             {func(s *scenario) { s.tws.Spec.Pause = true }, 3 * time.Hour},
		"no target":                {func(s *scenario) { s.obs.target = nil }, 30 * time.Second},
		"owned by another":         {func(s *scenario) { s.obs.owner, s.obs.target = "older", nil }, 3 * time.Hour},
		"no holidays":              {func(s *scenario) { s.obs.holidays.missing = "list" }, 3 * time.Hour},
		"unknown zone":             {func(s *scenario) { s.tws.Spec.Timezone = "Mars/Olympus_Mons" }, 5 * time.Minute},
		"unreadable":               {func(s *scenario) { s.tws.Spec.Windows[0].End = "09:00" }, 5 * time.Minute},
		"unreadable and no target": {func(s *scenario) { s.tws.Spec.Windows[0].End, s.obs.target = "09:00", nil }, 5 * time.Minute},
		"unknown zone, in grace": {func(s *scenario) {
			s.tws.Spec.Timezone, s.tws.Spec.GracePeriodSeconds = "Mars/Olympus_Mons", 40
			s.tws.Status.EffectiveReplicas, s.tws.Status.TargetUID = ptr.To[int32](10), "d-1"
		}, 40 * time.Second},
		"refused": {func(s *scenario) { s.obs.target, s.refusal = deployment(2, 2), errRefused }, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			tc.setUp(s)
			r, request, state := exactly(t, s)
			pass := s.pass(inTheHours)
			state.wakeUp = pass.plan.wakeUp
			got, err := r.nextRequeue(request, pass, state)
			expectDelay(t, name, got, err, tc.want)
		})
	}
}

// B10: conflicts are immediate and silent.
func TestAConflictIsRetriedAtOnce(t *testing.T) {
	s := newScenario(t, 10)
	r, request, state := exactly(t, s)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "webapp", errors.New("modified"))
	got, err := r.failed(t.Context(), request, state, ist(inTheHours), conflict)
	expectDelay(t, "conflict", got, err, 10*time.Millisecond)
	if state.failures > 0 {
		t.Errorf("after a conflict: %+v", state)
	}
	if len(gauges(t, request.NamespacedName)) > 0 || r.outage.Waiting() {
		t.Error("a conflict is counted as a failure")
	}
}

// B10: 30 s, 1, 2, 5 min, reset by a success, and never past the wake-up.
func TestTransientFailuresBackOff(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Name = "backing-off"
	r, request, state := exactly(t, s)
	state.wakeUp = ist("2025-01-27 17:00:00")
	down := apierrors.NewServiceUnavailable("starting")
	fail := func(at string, want time.Duration) {
		t.Helper()
		got, err := r.failed(t.Context(), request, state, ist(at), down)
		expectDelay(t, at, got, err, want)
	}
	fail(inTheHours, 30*time.Second)
	fail(inTheHours, time.Minute)
	fail(inTheHours, 2*time.Minute)
	fail(inTheHours, 5*time.Minute)
	fail("2025-01-27 16:59:00", time.Minute)
	if got := gauges(t, request.NamespacedName)["scale_failures_total/ServiceUnavailable"]; got != 5 {
		t.Errorf("%v failures counted, want 5", got)
	}
	if !slices.Contains(r.outage.Recovered(), request.NamespacedName) {
		t.Error("will not be woken when the API server is back")
	}
	r.outage.Failed(request.NamespacedName, true)
	if _, err := r.nextRequeue(request, s.pass(inTheHours), state); err != nil || state.failures != 0 || r.outage.Waiting() {
		t.Errorf("after a success: %d failures, waiting %v, error %v", state.failures, r.outage.Waiting(), err)
	}
	fail(inTheHours, 30*time.Second)
}

// While readiness and failures disagree, waking at each probe would be a tight loop.
func TestWakingIsGivenUp(t *testing.T) {
	s := newScenario(t, 10)
	r, request, state := exactly(t, s)
	woken := 0
	for range 10 {
		if _, err := r.failed(t.Context(), request, state, ist(inTheHours), errors.New("connection reset")); err != nil {
			t.Fatal(err)
		}
		woken += len(r.outage.Recovered())
	}
	if woken != len(failure.BackOff) {
		t.Errorf("woken %d times of 10, want %d", woken, len(failure.BackOff))
	}
}

// A pass cut short by the manager's shutdown is not a failure.
func TestAnEndIsNotAFailure(t *testing.T) {
	s := newScenario(t, 10)
	r, request, state := exactly(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.failed(ctx, request, state, ist(inTheHours), ctx.Err()); !errors.Is(err, context.Canceled) || state.failures > 0 {
		t.Errorf("error %v, %d failures", err, state.failures)
	}
}

// A pass that ran into its time limit met an API server that hangs: it is repeated like any other that
// did not reach it.
func TestATimeLimitIsAFailure(t *testing.T) {
	s := newScenario(t, 10)
	r, request, state := exactly(t, s)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	got, err := r.failed(ctx, request, state, ist(inTheHours), ctx.Err())
	expectDelay(t, "hanging", got, err, 30*time.Second)
	if !slices.Contains(r.outage.Recovered(), request.NamespacedName) {
		t.Error("will not be woken when the API server answers again")
	}
}

// A deleted scaler leaves nothing behind.
func TestForgetting(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Name = "forgotten"
	pass := s.pass(inTheHours)
	r, request, _ := exactly(t, s)
	r.Events = events.NewRecorder(nil) // forgetting sends nothing
	r.outage.Failed(request.NamespacedName, true)
	pass.record(&s.tws.Status)
	if len(gauges(t, request.NamespacedName)) == 0 {
		t.Fatal("nothing to forget")
	}
	r.forget(request.NamespacedName)
	if got := gauges(t, request.NamespacedName); len(got) > 0 || len(r.memory.scalers) > 0 || r.outage.Waiting() {
		t.Errorf("left: %v, %v, %v", got, r.memory.scalers, r.outage.Waiting())
	}
}
