package timewindowscaler

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
)

// A write that fails again and again is reported, and so is that it succeeds again.
func TestAWriteThatFailsIsReported(t *testing.T) {
	s := newScenario(t, 2)
	s.pass("2025-01-27 08:00:00")
	s.outage = errors.New(`Internal error occurred: failed calling webhook "policy.example.com": connection refused`)
	s.pass("2025-01-27 09:00:02")
	s.expectCondition("Ready", "False/TargetMismatch")
	s.expectCondition("Reconciling", "False/Stable")
	s.expectCondition("Degraded", "True/ScaleFailed")
	s.expectEvents("ScaleFailed")
	s.expectEffective(10, "")
	s.outage = nil
	if s.pass("2025-01-27 09:07:00").plan.Drift {
		t.Error("the write that failed is made up for, and called drift")
	}
	s.expectTargetSpec(10)
	s.expectCondition("Degraded", normal)
	s.expectEvents("ScaledUp")
}

// A target that cannot be read is neither there nor missing. The schedule goes on.
func TestATargetThatCannotBeReadIsReported(t *testing.T) {
	s := newScenario(t, 2)
	s.pass("2025-01-27 08:00:00")
	s.obs.target, s.obs.unavailable = nil, errAway
	if s.pass("2025-01-27 09:00:00").plan.Write {
		t.Error("written")
	}
	s.expectCondition("Ready", "Unknown/TargetUnavailable")
	s.expectCondition("Reconciling", "False/Stable")
	s.expectCondition("Degraded", "True/TargetUnavailable")
	s.expectEvents("TargetUnavailable")
	s.expectEffective(10, "")
	s.obs.target, s.obs.unavailable = deployment(2, 2), nil
	s.pass("2025-01-27 09:07:00")
	s.expectTargetSpec(10)
	if got, want := s.last.plan.due, ist("2025-01-27 09:00:00"); !got.Equal(want) {
		t.Errorf("due since %s, want %s", got, want)
	}
}

// A target whose kind cannot be watched is scaled all the same.
func TestATargetThatCannotBeWatchedIsReported(t *testing.T) {
	s := newScenario(t, 2)
	s.obs.unwatched = errAway
	s.pass("2025-01-27 09:00:00")
	s.expectTargetSpec(10)
	s.expectCondition("Degraded", "True/TargetUnavailable")
	s.expectEvents("TargetUnavailable", "ScaledUp")
}

// A write stays due since its boundary while it fails, until it is made or something else makes it due.
func TestDueWhileItFails(t *testing.T) {
	for name, tc := range map[string]struct {
		then func(*scenario)
		want string
	}{
		"tried again":       {func(*scenario) {}, "2025-01-27 09:00:00"},
		"the next boundary": {func(s *scenario) { s.obs.target = deployment(5, 5); s.pass("2025-01-27 17:00:00") }, "2025-01-27 17:00:00"},
		"a spec edit": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(12) })
			s.pass("2025-01-27 10:00:00")
		}, ""},
		"a pause": {func(s *scenario) { s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true }) }, ""},
		"by hand": {func(s *scenario) { s.obs.target = deployment(10, 10) }, ""},
		"made":    {func(s *scenario) { s.outage = nil; s.pass("2025-01-27 10:00:00"); s.obs.target = deployment(3, 3) }, ""},
	} {
		for what, fails := range map[string]func(*scenario){
			"failed":  func(s *scenario) { s.outage = errAway },
			"refused": func(s *scenario) { s.refusal = errRefused },
		} {
			s := newScenario(t, 2)
			s.pass("2025-01-27 08:00:00")
			fails(s)
			s.pass("2025-01-27 09:00:00")
			s.pass("2025-01-27 09:00:30")
			if s.refusal != nil && name == "made" {
				s.refusal = nil
			}
			tc.then(s)
			got := s.passAt(s.last.now.Add(time.Minute)).plan.due
			if want := (time.Time{}); tc.want == "" && !got.Equal(want) || tc.want != "" && !got.Equal(ist(tc.want)) {
				t.Errorf("%s, then %s: due since %s, want %q", what, name, got, tc.want)
			}
		}
	}
}

// B12: the lateness is that of the successful write, and what is overdue shows while it is.
func TestLatenessOfAWrite(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Name = "late"
	key := types.NamespacedName{Namespace: s.tws.Namespace, Name: s.tws.Name}
	t.Cleanup(func() { metrics.Forget(key) })
	overdue := func(what, want string) {
		t.Helper()
		s.last.record(&s.tws.Status)
		if got := gauges(t, key)["next_due_timestamp_seconds"]; got != float64(ist(want).Unix()) {
			t.Errorf("%s: next due %s, want %s", what, time.Unix(int64(got), 0).In(kolkata), want)
		}
	}
	s.pass("2025-01-27 08:00:00")
	overdue("before", "2025-01-27 09:00:00")
	s.outage = errAway
	s.pass("2025-01-27 09:00:02")
	overdue("failing", "2025-01-27 09:00:00")
	s.pass("2025-01-27 09:05:00")
	overdue("still failing", "2025-01-27 09:00:00")
	s.outage, s.took = nil, 20*time.Second
	before := lateness(t)
	s.pass("2025-01-27 09:10:00")
	overdue("done", "2025-01-27 17:00:00")
	if got := lateness(t) - before; got != 620 {
		t.Errorf("%v s late, want 620", got)
	}
}

func lateness(t *testing.T) float64 {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "kyklos_boundary_lateness_seconds" {
			return family.GetMetric()[0].GetHistogram().GetSampleSum()
		}
	}
	return 0
}
