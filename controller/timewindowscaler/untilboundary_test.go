package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

func untilBoundary(spec *v1beta1.TimeWindowScalerSpec) { spec.DriftPolicy = v1beta1.DriftUntilBoundary }

// othersSet is a write by an autoscaler or a user.
func (s *scenario) othersSet(replicas int32) { s.obs.target = deployment(replicas, replicas) }

// A schedule and an autoscaler share a Deployment: the schedule decides at each boundary, the autoscaler in between (B3).
func TestAnAutoscalerDecidesBetweenBoundaries(t *testing.T) {
	s := newScenario(t, 2)
	s.edit(untilBoundary)
	s.pass("2025-01-27 09:00:00")
	s.expectTargetSpec(10)
	s.expectEvents("ScaledUp")
	for _, busy := range []int32{14, 7, 10, 9} {
		s.othersSet(busy)
		s.pass("2025-01-27 12:00:00")
		s.expectTargetSpec(busy)
		s.expectEvents()
		s.expectCondition("Ready", "True/Reconciled")
		s.expectCondition("Reconciling", "False/Stable")
		s.expectCondition("Degraded", "False/OperationalNormal")
		s.expectEffective(10, "")
	}
	if s.last.plan.fight.On() || s.last.drift(&s.tws.Status) != 0 {
		t.Errorf("a fight %v, a drift of %d", s.last.plan.fight.On(), s.last.drift(&s.tws.Status))
	}
	s.pass("2025-01-27 17:00:00")
	s.expectTargetSpec(2)
	s.expectEvents("ScaledDown")
	s.othersSet(4)
	s.pass("2025-01-27 23:00:00")
	s.expectTargetSpec(4)
	s.pass("2025-01-28 10:00:00") // the manager was away at nine
	s.expectTargetSpec(10)
}

// While a grace period runs the autoscaler goes on; its end is a boundary.
func TestAGracePeriodUntilTheBoundary(t *testing.T) {
	s := newScenario(t, 2)
	s.edit(untilBoundary)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = 600 })
	s.pass("2025-01-27 09:00:00")
	s.othersSet(14)
	s.pass("2025-01-27 17:00:00")
	s.expectTargetSpec(14)
	s.expectEffective(10, "2025-01-27 17:10:00")
	s.othersSet(12)
	s.pass("2025-01-27 17:05:00")
	s.expectTargetSpec(12)
	s.othersSet(6)
	s.pass("2025-01-27 17:06:00")
	s.expectTargetSpec(6)
	s.expectEffective(6, "2025-01-27 17:10:00") // what is gone is not kept
	s.othersSet(8)
	s.pass("2025-01-27 17:07:00")
	s.expectTargetSpec(8)
	s.pass("2025-01-27 17:10:00")
	s.expectTargetSpec(2)
	s.expectEvents("ScaledDown")
}

// What an edit or a new target asks for is due at once, and what a pause or a refusal prevented is due afterwards.
func TestWhatIsAskedAgain(t *testing.T) {
	s := newScenario(t, 2)
	s.edit(untilBoundary)
	s.pass("2025-01-27 09:00:00")
	s.othersSet(14)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = 0 })
	s.pass("2025-01-27 10:00:00")
	s.expectTargetSpec(14)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(12) })
	s.pass("2025-01-27 10:01:00")
	s.expectTargetSpec(12)

	s.othersSet(5)
	s.obs.target.(*target.Replicated).UID = "d-2"
	s.pass("2025-01-27 11:00:00")
	s.expectTargetSpec(12)

	s.obs.target.(*target.Replicated).UID = "d-1"
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.pass("2025-01-27 17:00:00")
	s.expectTargetSpec(12)
	s.expectEvents("ScalingSkipped")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.refusal = errRefused
	s.pass("2025-01-27 17:01:00")
	s.expectTargetSpec(12)
	s.refusal = nil
	s.pass("2025-01-27 17:02:00")
	s.expectTargetSpec(2)

	s.othersSet(3)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DriftPolicy = v1beta1.DriftEnforce })
	s.pass("2025-01-27 18:00:00")
	s.expectTargetSpec(2)
	if s.tws.Status.Applied != nil {
		t.Errorf("enforced, it remembers %+v", s.tws.Status.Applied)
	}
}

// Others write what they like, the manager is away at times, dies between its two writes, and is paused; the spec is edited. Once
// in each stretch of hours in which one window decides, and after each edit of its count, the schedule sets the count; at all
// other times it is as others set it.
func TestUntilBoundaryAgainstAnOracle(t *testing.T) {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		e := &expectation{shifts: rapid.SliceOfN(anyShift, 1, 3).Draw(r, "windows"), stretch: 1}
		e.decider = e.deciderAt(0)
		otherwise := rapid.Int32Range(0, 3).Draw(r, "default")
		s := &scenario{T: t, tws: officeHours()}
		untilBoundary(&s.tws.Spec)
		s.tws.Spec.Timezone, s.tws.Spec.DefaultReplicas, s.tws.Spec.Windows = "UTC", intstr.FromInt32(otherwise), nil
		for i, shift := range e.shifts {
			s.tws.Spec.Windows = append(s.tws.Spec.Windows, shift.window(i))
		}
		count, asked := rapid.Int32Range(0, 5).Draw(r, "at first"), int32(-1)
		for hour := 0; hour < 6*24; hour++ {
			if rapid.IntRange(0, 2).Draw(r, "others write") == 0 {
				count = rapid.Int32Range(0, 5).Draw(r, "count")
			}
			if rapid.IntRange(0, 20).Draw(r, "an edit") == 0 {
				i := rapid.IntRange(0, len(e.shifts)-1).Draw(r, "of window")
				e.shifts[i].replicas = rapid.Int32Range(0, 3).Draw(r, "to")
				s.tws.Spec.Windows[i] = e.shifts[i].window(i)
				s.tws.Generation++
			}
			hour += rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 2, 30}).Draw(r, "away")
			e.goTo(hour)
			s.tws.Spec.Pause = rapid.IntRange(0, 9).Draw(r, "pause") == 0
			lost := rapid.IntRange(0, 9).Draw(r, "status lost") == 0

			wanted := otherwise
			if e.decider >= 0 {
				wanted = e.shifts[e.decider].replicas
			}
			before := count
			if !s.tws.Spec.Pause && (e.handled != e.stretch || asked != wanted) {
				count = wanted
				if !lost {
					e.handled, asked = e.stretch, wanted
				}
			}
			stored := s.tws.Status.DeepCopy()
			s.obs = observation{target: deployment(before, before)}
			s.passAt(monday.Add(time.Duration(hour)*time.Hour + time.Minute))
			if lost {
				s.tws.Status = *stored
			}
			if got := s.obs.target.Base().Spec; got != count {
				r.Fatalf("hour %d: %d, want %d", hour, got, count)
			}
		}
	})
}
