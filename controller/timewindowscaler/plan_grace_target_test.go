package timewindowscaler

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

func another(uid string, spec int32) target.Target {
	t := deployment(spec, spec).(*target.Replicated)
	t.UID = types.UID("d-" + uid)
	return t
}

// B15: what is kept is the count of this very target, and no more than it has itself.
func TestGraceNeverScalesUp(t *testing.T) {
	evening := "2025-01-27 17:00:00"
	for name, tc := range map[string]struct {
		before func(*scenario)
		target target.Target
		keeps  int32
		until  string
	}{
		"in order":                        {func(*scenario) {}, deployment(10, 10), 10, "2025-01-27 17:05:00"},
		"another targetRef":               {func(s *scenario) { s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.TargetRef.Name = "other" }) }, another("2", 2), 2, ""},
		"another targetRef, a high count": {func(s *scenario) { s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.TargetRef.Name = "other" }) }, another("2", 8), 2, ""},
		"recreated":                       {func(*scenario) {}, another("2", 2), 2, ""},
		"recreated with a high count":     {func(*scenario) {}, another("2", 10), 2, ""},
		"lowered by a user":               {func(*scenario) {}, deployment(4, 4), 4, "2025-01-27 17:05:00"},
		"lowered to what is due":          {func(*scenario) {}, deployment(2, 2), 2, ""},
		"lowered below":                   {func(*scenario) {}, deployment(1, 1), 2, ""},
		"raised by a user":                {func(*scenario) {}, deployment(30, 30), 10, "2025-01-27 17:05:00"},
		"gone":                            {func(*scenario) {}, nil, 2, ""},
		"a status without a UID":          {func(s *scenario) { s.tws.Status.TargetUID = "" }, deployment(10, 10), 10, "2025-01-27 17:05:00"},
		"back after it was gone": {func(s *scenario) {
			s.obs.target = nil
			s.pass("2025-01-27 16:59:10")
		}, deployment(10, 10), 2, ""},
		"unreadable for a while": {func(s *scenario) {
			s.obs = observation{obstacle: &targetkind.ForbiddenError{}}
			s.pass("2025-01-27 16:59:10")
			s.obs = observation{}
		}, deployment(10, 10), 10, "2025-01-27 17:05:00"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newGrace(t)
			tc.before(s)
			s.obs.target = tc.target
			s.pass(evening)
			s.expectEffective(tc.keeps, tc.until)
			if tc.target != nil {
				s.expectTargetSpec(tc.keeps)
			}
		})
	}
}

// B15: a pause hides what the window asks for, and its end does not bring it back.
func TestAPauseThatEndsAfterTheWindow(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Spec.GracePeriodSeconds = 300
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.pass("2025-01-27 16:59:00")
	s.expectEffective(10, "")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.pass("2025-01-27 17:01:00")
	s.expectTargetSpec(2)
	s.expectEffective(2, "")
	s.expectEvents()
}

// B15: whatever the status says and whatever the target has, a grace period does not raise it, and another target has none.
func TestGraceWhateverTheTargetHas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.Int32Range(0, 12)
		s := newGrace(t)
		s.tws.Status.EffectiveReplicas = ptr.To(count.Draw(rt, "in force"))
		has := count.Draw(rt, "has")
		s.obs.target = deployment(has, has)
		changed := rapid.Bool().Draw(rt, "another target")
		if changed {
			s.obs.target = another("2", has)
		}
		if rapid.Bool().Draw(rt, "grace runs") {
			s.tws.Status.GracePeriodExpiry = timePointer(ist("2025-01-27 17:04:00"))
		}
		s.pass("2025-01-27 17:01:00")
		got := s.obs.target.Base().Spec
		if got > max(has, 2) || s.tws.Status.GracePeriodExpiry == nil && got != 2 {
			rt.Fatalf("scaled from %d to %d, grace period until %v", has, got, s.tws.Status.GracePeriodExpiry)
		}
		if changed && got != 2 {
			rt.Fatalf("another target was kept at %d", got)
		}
	})
}
