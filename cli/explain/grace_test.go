package explain_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/internal/golden"
)

// A grace period keeps the effective count, not the one before a further decrease. One that is running in the cluster continues.
func TestKept(t *testing.T) {
	running := &explain.State{Status: v1beta1.TimeWindowScalerStatus{
		EffectiveReplicas: ptr.To[int32](10), GracePeriodExpiry: ptr.To(metav1.NewTime(instant(t, "2026-11-23T12:00:00Z"))),
	}}
	want := golden.New(t, "kept")
	for name, tc := range map[string]struct {
		at    string
		grace int32
		state *explain.State
	}{
		"a further decrease": {"2026-11-23T09:30:00Z", 7200, nil},
		"with seconds":       {"2026-11-23T10:30:00Z", 90, nil},
		"until the next day": {"2026-11-23T10:30:00Z", 86400, nil},
		"one that runs":      {"2026-11-23T10:30:00Z", 7200, running},
		"one to come":        {"2026-11-23T09:59:59Z", 7200, running},
		"one of the past":    {"2026-11-23T10:30:00Z", 600, running},
	} {
		tws := scaler("UTC", window("a", week[:1], "09:00", "10:00", 10), window("b", week[:1], "10:00", "11:00", 5))
		tws.Spec.GracePeriodSeconds = tc.grace
		var text strings.Builder
		if err := explain.Text(&text, explain.Explain(tws, explain.Holidays{}, tc.state, instant(t, tc.at)), false); err != nil {
			t.Fatal(err)
		}
		_, next, _ := strings.Cut(text.String(), "Next changes of the count:\n")
		want.Add(name, next)
	}
}

// What a grace period keeps is what the controller keeps: no more than the target asks for itself, and nothing of another target
// (B15).
func TestGraceKeepsNoMoreThanTheTarget(t *testing.T) {
	workspace := func(s *fixture) {
		s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
		s.tws.Spec.DefaultReplicas.IntVal, s.state.Status.EffectiveReplicas = 0, ptr.To[int32](1)
	}
	for name, tc := range map[string]struct {
		change    func(*fixture)
		effective int32
		next      int32 // what the next grace period keeps
	}{
		"in sync":               {func(*fixture) {}, 10, 10},
		"fewer":                 {func(s *fixture) { s.state.Target.Asks = 4 }, 4, 4},
		"more":                  {func(s *fixture) { s.state.Target.Asks = 12 }, 10, 10},
		"fewer than afterwards": {func(s *fixture) { s.state.Target.Asks = 1 }, 2, 0},
		"no count":              {func(s *fixture) { s.state.Target.Unset, s.state.Target.Asks = true, 0 }, 2, 0},
		"another target":        {func(s *fixture) { s.state.Status.TargetUID, s.state.Target.UID = "before", "now" }, 2, 0},
		"no target":             {func(s *fixture) { s.state.Target, s.state.Missing = nil, "there is none" }, 2, 0},
		"no such kind":          {func(s *fixture) { s.state.Target, s.state.Missing, s.state.NoKind = nil, "no such kind", true }, 10, 10},
		"not readable":          {func(s *fixture) { s.state.Target = nil }, 10, 10},
		"a Workspace":           {func(s *fixture) { workspace(s); s.state.Target = &explain.Target{Desired: "RUNNING"} }, 1, 1},
		"a stopped Workspace":   {func(s *fixture) { workspace(s); s.state.Target = &explain.Target{Desired: "STANDBY"} }, 0, 0},
		"a stored expiry that is too far away": {func(s *fixture) {
			s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(time.Hour)))
		}, 10, 10},
	} {
		s := well(t, evening, 10)
		s.state.Status.GracePeriodExpiry = ptr.To(metav1.NewTime(s.at.Add(2 * time.Minute)))
		tc.change(s)
		e := explain.Explain(s.tws, explain.Holidays{}, &s.state, s.at)
		if *e.Effective != tc.effective {
			t.Errorf("%s: got %d, want %d", name, *e.Effective, tc.effective)
		}
		running := e.Scaler.State.GracePeriodExpiry
		if running == nil != (tc.next == 0) || running != nil && (*e.Scaler.State.EffectiveReplicas != tc.next || running.After(s.at.Add(5*time.Minute))) {
			t.Errorf("%s: the timeline begins with %+v", name, e.Scaler.State)
		}
	}
}
