package timewindowscaler

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// A change of only the observed count waits up to a second for the next one; everything else,
// and the last of a series, is written.
func TestHoldsBack(t *testing.T) {
	status := func(observed int32, change ...func(*v1beta1.TimeWindowScalerStatus)) *v1beta1.TimeWindowScalerStatus {
		s := &v1beta1.TimeWindowScalerStatus{
			EffectiveReplicas:      ptr.To[int32](10),
			TargetObservedReplicas: ptr.To(observed),
			Conditions:             []metav1.Condition{{Type: "Ready", Message: "m"}},
		}
		for _, c := range change {
			c(s)
		}
		return s
	}
	without := func(s *v1beta1.TimeWindowScalerStatus) { s.TargetObservedReplicas = nil }
	ready := func(s *v1beta1.TimeWindowScalerStatus) { s.Conditions[0].Message = "other" }
	type pass struct {
		after time.Duration
		next  *v1beta1.TimeWindowScalerStatus
		holds bool
	}
	last := status(2)
	for name, tc := range map[string]struct {
		last   *v1beta1.TimeWindowScalerStatus
		passes []pass
	}{
		"nothing changed": {last, []pass{{0, status(2), false}}},
		"the count alone": {last, []pass{{0, status(3), true}}},
		"a rollout writes once a second": {last, []pass{{0, status(3), true}, {400 * time.Millisecond, status(4), true},
			{999 * time.Millisecond, status(5), true}, {time.Second, status(6), false}, {time.Second, status(7), true}}},
		"the last of a row":           {last, []pass{{0, status(3), true}, {time.Second, status(3), false}}},
		"the count and a condition":   {last, []pass{{0, status(3), true}, {time.Millisecond, status(10, ready), false}}},
		"back to what was written":    {last, []pass{{0, status(3), true}, {time.Millisecond, status(2), false}, {2 * time.Second, status(3), true}}},
		"the target went":             {last, []pass{{0, status(0, without), false}}},
		"the target came":             {status(0, without), []pass{{0, status(3), false}}},
		"the clock was set back":      {last, []pass{{time.Hour, status(3), true}, {0, status(4), true}, {time.Second, status(5), false}}},
		"no status yet, no count yet": {&v1beta1.TimeWindowScalerStatus{}, []pass{{0, &v1beta1.TimeWindowScalerStatus{}, false}}},
	} {
		state := &scalerState{}
		for i, p := range tc.passes {
			pass := &passResult{tws: &v1beta1.TimeWindowScaler{Status: *tc.last}, now: ist(inTheHours).Add(p.after)}
			if got := state.holdsBack(pass, tc.last, p.next); got != p.holds {
				t.Errorf("%s, pass %d: holds back %v", name, i+1, got)
			}
			if waiting := !state.heldSince.IsZero(); waiting != p.holds {
				t.Errorf("%s, pass %d: waiting %v", name, i+1, waiting)
			}
		}
	}
}

// After our own write the status waits up to a second for the pods, and no longer than they need.
func TestHoldsBackWhileTheTargetIsOnItsWay(t *testing.T) {
	last := &v1beta1.TimeWindowScalerStatus{CurrentWindow: "OffHours"}
	for name, tc := range map[string]struct {
		outcome outcome
		written bool
		after   time.Duration
		want    bool
	}{
		"pods pending":              {outcome{target: deployment(10, 2)}, true, 0, true},
		"pods pending for a second": {outcome{target: deployment(10, 2)}, true, time.Second, false},
		"arrived":                   {outcome{target: deployment(10, 10)}, true, 0, false},
		"not our write":             {outcome{target: deployment(10, 2)}, false, 0, false},
		"refused since":             {outcome{target: deployment(10, 2), refused: errRefused}, true, 0, false},
		"gone since":                {outcome{}, true, 0, false},
	} {
		state, next := &scalerState{}, &v1beta1.TimeWindowScalerStatus{CurrentWindow: "BusinessHours"}
		if tc.written {
			next.LastScaleTime = ptr.To(metav1.NewTime(ist(inTheHours)))
		}
		if tc.after > 0 {
			state.heldSince = ist(inTheHours)
		}
		tws := officeHours()
		tws.Status = *last
		pass := &passResult{tws: tws, plan: decision{effective: 10}, outcome: tc.outcome, now: ist(inTheHours).Add(tc.after)}
		if got := state.holdsBack(pass, last, next); got != tc.want {
			t.Errorf("%s: holds back %v", name, got)
		}
	}
}

// The next pass after a refused write comes with the back-off, up to minutes later: a status must not
// wait for it.
func TestHoldsBackNothingWhenRefused(t *testing.T) {
	last := v1beta1.TimeWindowScalerStatus{TargetObservedReplicas: ptr.To[int32](2)}
	next := v1beta1.TimeWindowScalerStatus{TargetObservedReplicas: ptr.To[int32](3)}
	pass := &passResult{
		tws:     &v1beta1.TimeWindowScaler{Status: last},
		outcome: outcome{target: deployment(3, 3), refused: errRefused},
		now:     ist(inTheHours),
	}
	state := &scalerState{heldSince: ist(inTheHours)}
	if state.holdsBack(pass, &last, &next) || !state.heldSince.IsZero() {
		t.Error("the count is held back although no pass is near")
	}
}

// B2: grace depends on what was decided, also in the second in which the status waits to be written. A
// boundary to 10 and, at once, an edit that asks for 5: the decrease waits.
func TestWhatIsHeldBackIsInForce(t *testing.T) {
	stored := officeHours()
	stored.Spec.GracePeriodSeconds = 300
	stored.Status.EffectiveReplicas = ptr.To[int32](2)
	state := &scalerState{}
	state.keep(stored, &v1beta1.TimeWindowScalerStatus{EffectiveReplicas: ptr.To[int32](10), ObservedGeneration: 1})

	stored.Generation, stored.Spec.Windows[0].Replicas = 2, intstr.FromInt32(5)
	p := plan(state.withPendingStatus(stored), observation{target: deployment(10, 10)}, ist(inTheHours))
	if p.effective != 10 || !p.grace.started || p.Write {
		t.Errorf("effective %d, grace started %v, write %v", p.effective, p.grace.started, p.Write)
	}
	if *stored.Status.EffectiveReplicas != 2 {
		t.Error("the stored status was changed, and with it the patch")
	}
	recreated := stored.DeepCopy()
	recreated.UID = "u-2"
	if state.withPendingStatus(recreated) != recreated {
		t.Error("another object of the same name got the status")
	}
}
