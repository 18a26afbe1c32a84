package timewindowscaler

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

var (
	errRefused = errors.New("deployments.apps \"webapp\" is forbidden")
	errAway    = errors.New("the server is currently unable to handle the request")
)

// R8: drift is a change by others of a target that was in order. All
// other writes have another cause, and the event must not blame the user.
func TestWhatIsDrift(t *testing.T) {
	const at, later = "2025-01-27 14:00:00", "2025-01-27 14:10:00"
	userScales := func(s *scenario) { s.obs.target = deployment(15, 15) }
	for name, tc := range map[string]struct {
		before func(*scenario) // between two passes, the first of which scales the target
		now    string
		want   bool
	}{
		"scaled by hand": {userScales, later, true},
		"scaled by hand while pods were still to come": {func(s *scenario) {
			s.obs.target = deployment(10, 4)
			s.pass(at)
			s.obs.target = deployment(3, 4)
		}, later, true},
		"scaled by hand twice": {func(s *scenario) {
			userScales(s)
			s.pass(at)
			userScales(s)
		}, later, true},
		"a boundary":                       {func(*scenario) {}, "2025-01-27 17:00:00", false},
		"a boundary after a manual change": {userScales, "2025-01-27 17:00:00", false},
		"a spec edit": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(7) })
		}, later, false},
		"an edit that changes no sum": {func(s *scenario) { userScales(s); s.edit(func(*v1beta1.TimeWindowScalerSpec) {}) }, later, false},
		"a target that came back": {func(s *scenario) {
			s.obs.target = nil
			s.pass(at)
			s.obs.target = deployment(1, 1)
		}, later, false},
		"an end of pause": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
			s.pass(at)
			userScales(s)
			s.pass(at)
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
		}, later, false},
		"a refused write that succeeds at last": {func(s *scenario) {
			s.refusal = errRefused
			s.pass("2025-01-27 17:00:00")
			s.refusal = nil
		}, "2025-01-27 17:05:00", false},
		"a refused fallback that succeeds at last": {func(s *scenario) {
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Timezone = "Mars/Olympus_Mons" })
			s.refusal = errRefused
			s.pass(at)
			s.refusal = nil
		}, later, false},
		"a target that another scaler gave up": {func(s *scenario) {
			s.obs.owner = "older"
			s.pass(at)
			userScales(s)
			s.obs.owner = ""
		}, later, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			s.pass("2025-01-27 13:00:00")
			tc.before(s)
			if got := s.pass(tc.now).plan; !got.Write || got.Drift != tc.want {
				t.Errorf("write %v, drift %v; want a write, drift %v", got.Write, got.Drift, tc.want)
			}
		})
	}
}

func TestTheFirstPassSeesNoDrift(t *testing.T) {
	s := newScenario(t, 3)
	if p := s.pass("2025-01-27 14:00:00").plan; !p.Write || p.Drift {
		t.Errorf("write %v, drift %v", p.Write, p.Drift)
	}
}

// While paused, drift is reported and not corrected (R8).
func TestDriftWhilePaused(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Spec.Pause = true
	s.pass("2025-01-27 13:00:00")
	s.obs.target = deployment(5, 5)
	s.pass("2025-01-27 14:00:00")
	s.expectTargetSpec(5)
	s.expectEvents("ScalingSkipped")
	s.expectCondition("Ready", "False/TargetMismatch")
}
