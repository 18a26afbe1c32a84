package timewindowscaler

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolsevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/kindwatch"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// exactly is a reconciler without jitter, so that waits can be compared.
func exactly(t *testing.T, s *scenario) (*Reconciler, reconcile.Request, *scalerState) {
	r := &Reconciler{Requeue: Requeue{Max: 24 * time.Hour}, attempts: attempts.New(2, func() time.Duration { return 0 }), metrics: &extmetric.Poller{}}
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
		"about to take over":       {func(s *scenario) { s.obs.owner, s.obs.takesOver = "older", ist("2025-01-27 14:00:07") }, 7 * time.Second},
		"no holidays":              {func(s *scenario) { s.obs.holidays.missing = "list" }, 3 * time.Hour},
		"unknown zone":             {func(s *scenario) { s.tws.Spec.Timezone = "Mars/Olympus_Mons" }, 5 * time.Minute},
		"unreadable":               {func(s *scenario) { s.tws.Spec.Windows[0].End = "09:00" }, 5 * time.Minute},
		"unreadable and no target": {func(s *scenario) { s.tws.Spec.Windows[0].End, s.obs.target = "09:00", nil }, 5 * time.Minute},
		"unknown zone, in grace": {func(s *scenario) {
			s.tws.Spec.Timezone, s.tws.Spec.GracePeriodSeconds = "Mars/Olympus_Mons", 40
			s.tws.Status.EffectiveReplicas, s.tws.Status.TargetUID = ptr.To[int32](10), "d-1"
		}, 40 * time.Second},
		"refused":           {func(s *scenario) { s.obs.target, s.refusal = deployment(2, 2), errRefused }, 5 * time.Minute}, // woken earlier
		"failing":           {func(s *scenario) { s.obs.target, s.outage = deployment(2, 2), errAway }, 5 * time.Minute},
		"unreadable target": {func(s *scenario) { s.obs.target, s.obs.unavailable = nil, errAway }, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			tc.setUp(s)
			r, _, state := exactly(t, s)
			expectDelay(t, name, r.nextRequeue(s.pass(inTheHours), state), nil, tc.want)
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
	if len(gauges(t, request.NamespacedName)) > 0 {
		t.Error("a conflict is counted as a failure")
	}
}

// B10: a pass that could not be completed is looked at again when it is worth a report, and never past the wake-up.
// Only an attempt of its own counts as a failure, not that it has to wait.
func TestAPassThatFails(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Name = "failing"
	r, request, state := exactly(t, s)
	state.wakeUp = ist("2025-01-27 17:00:00")
	down := apierrors.NewServiceUnavailable("starting")
	for _, step := range []struct {
		at, what string
		err      error
		want     time.Duration
		failures float64
	}{
		{inTheHours, "an attempt", &attempts.Trouble{Err: down, Sent: true, Failures: 1}, 30 * time.Second, 1},
		{inTheHours, "waits", &attempts.Trouble{Err: down, Failures: 1}, 30 * time.Second, 1},
		{"2025-01-27 16:59:50", "a boundary is near", &attempts.Trouble{Err: down, Sent: true, Failures: 2}, 10 * time.Second, 2},
		{inTheHours, "not paced", down, 30 * time.Second, 3},
		{inTheHours, "the kind is being listed", kindwatch.ErrNotListedYet, kindwatch.RetryInterval, 3},
	} {
		got, err := r.failed(t.Context(), request, state, ist(step.at), step.err)
		expectDelay(t, step.what, got, err, step.want)
		if counted := gauges(t, request.NamespacedName)["scale_failures_total/ServiceUnavailable"]; counted != step.failures {
			t.Errorf("%s: %v failures counted, want %v", step.what, counted, step.failures)
		}
	}
}

// A pass cut short by the manager's shutdown is not a failure.
func TestAnEndIsNotAFailure(t *testing.T) {
	s := newScenario(t, 10)
	r, request, state := exactly(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.failed(ctx, request, state, ist(inTheHours), ctx.Err()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
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
}

// A deleted scaler leaves nothing behind.
func TestForgetting(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Name = "forgotten"
	pass := s.pass(inTheHours)
	r, request, _ := exactly(t, s)
	r.Events = events.NewRecorder(nil) // forgetting sends nothing
	pass.record(&s.tws.Status)
	if len(gauges(t, request.NamespacedName)) == 0 {
		t.Fatal("nothing to forget")
	}
	r.forget(request.NamespacedName)
	if got := gauges(t, request.NamespacedName); len(got) > 0 || len(r.memory.scalers) > 0 {
		t.Errorf("left: %v, %v", got, r.memory.scalers)
	}
}

// A refused status is announced, and the same one not again at each retry. It is no failure to scale; an outage is.
func TestARefusedStatusIsAnnounced(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Name = "frozen"
	r, request, state := exactly(t, s)
	sink := toolsevents.NewFakeRecorder(9)
	r.Events = events.NewRecorder(sink)
	gone := schema.GroupResource{Group: "kyklos.io", Resource: "timewindowscalers"}
	for _, cause := range []error{
		apierrors.NewForbidden(gone, "frozen", errors.New("the status is frozen")),
		apierrors.NewForbidden(gone, "frozen", errors.New("the status is frozen")),
		apierrors.NewInvalid(schema.GroupKind{Group: "kyklos.io", Kind: "TimeWindowScaler"}, "frozen", nil),
		apierrors.NewConflict(gone, "frozen", errors.New("modified")),
		apierrors.NewServiceUnavailable("starting"),
	} {
		trouble := &attempts.Trouble{Err: cause, Sent: true, Failures: 1}
		if _, err := r.failed(t.Context(), request, state, ist(inTheHours), statusError(s.tws, trouble)); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`Warning StatusRefused The API server refuses the new status, so the status stays as it is: timewindowscalers.kyklos.io "frozen" is forbidden: the status is frozen`,
		`Warning StatusRefused The API server refuses the new status, so the status stays as it is: TimeWindowScaler.kyklos.io "frozen" is invalid`,
	}
	close(sink.Events)
	var got []string
	for event := range sink.Events {
		got = append(got, event)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	counted := map[string]float64{"scale_failures_total/ServiceUnavailable": 1}
	if diff := cmp.Diff(counted, gauges(t, request.NamespacedName)); diff != "" {
		t.Errorf("counted (-want +got)\n%s", diff)
	}
}
