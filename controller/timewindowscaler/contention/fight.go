// Package contention detects others that decide about a target: another TimeWindowScaler, a
// HorizontalPodAutoscaler, or any writer that rewrites the count repeatedly.
package contention

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

const (
	// fightThreshold is how many rewrites of the count that Kyklos set make a fight.
	fightThreshold = 3
	// leastCalm is the minimum time without a rewrite for a fight to be over.
	leastCalm = 10 * time.Minute
	// longestCount is the maximum time between two rewrites of one fight.
	longestCount = 24 * time.Hour
)

// intervals are the times between two corrections in a fight (B3).
var intervals = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// OnFight is the reaction to others that rewrite the target's count repeatedly.
type OnFight string

// The values of --on-fight.
const (
	// BackOff corrects the count at growing intervals.
	BackOff OnFight = "backoff"
	// Enforce corrects it at once, every time.
	Enforce OnFight = "enforce"
)

// Validate names the flag in its error.
func (o OnFight) Validate() error {
	if o != BackOff && o != Enforce {
		return fmt.Errorf("--on-fight: must be %s or %s, not %q", BackOff, Enforce, string(o))
	}
	return nil
}

// occurrence is what a fight is about: one occurrence of a window, for one spec and one target.
type occurrence struct {
	target     types.UID
	generation int64
	window     string
	// effective is the count, so that the end of a grace period starts another occurrence. Where a metric
	// decides, which changes the count all the time, it is -1.
	effective int32
}

// Fight is the state of a fight with others over the target's count within one occurrence of a window.
type Fight struct {
	occurrence occurrence
	// Rewrites counts how often others did, and corrections how often Kyklos set the count right.
	Rewrites, corrections int
	// Rewritten: the count is theirs now, and that is counted.
	Rewritten bool
	// set is since when the count is ours, corrected when Kyklos last set it right.
	set, corrected time.Time
	// stood is the longest time that it was ours between two rewrites.
	stood time.Duration
	// Trouble describes the fight and names the rival, once there is one.
	Trouble string
	// Announced: the event was published.
	Announced bool
}

// Input is what a fight is decided by.
type Input struct {
	Scaler *v1beta1.TimeWindowScaler
	// Target is nil if it does not exist or another scaler owns it.
	Target  target.Target
	Window  string
	Desired target.Desired
	// ByMetric: the window's metric decides the count.
	ByMetric bool
	// Drift: others changed the count.
	Drift bool
	// Before is what the last pass decided.
	Before Fight
	// Rival is the name of the other writer, "" if that was not looked up.
	Rival string
}

// Decide counts rewrites by the count as it is seen, so it does not matter how many passes see one.
func Decide(in Input, now time.Time) Fight {
	if in.Target == nil || in.Scaler.Spec.Pause {
		return Fight{}
	}
	here := occurrence{in.Target.Base().UID, in.Scaler.Generation, in.Window, in.Desired.Replicas}
	if in.ByMetric {
		here.effective = -1
	}
	ours := in.Target.AsksFor(in.Desired)
	f := in.Before
	if f.occurrence == (occurrence{}) {
		f = fromStatus(in.Scaler, here, ours)
	}
	if f.occurrence != here {
		f = Fight{occurrence: here, set: now}
	}
	f.set, f.corrected = earlier(f.set, now), earlier(f.corrected, now) // the clock may have been set back
	if calm := now.Sub(f.set); !f.Rewritten && (f.On() && calm >= f.calm() || !f.On() && calm > longestCount) {
		f = Fight{occurrence: here, set: now}
	}
	switch {
	case in.Drift && !f.Rewritten:
		if f.Rewrites > 0 {
			f.stood = max(f.stood, now.Sub(f.set))
		}
		f.Rewrites++
		f.Rewritten = true
	case ours && f.Rewritten:
		f.Rewritten, f.set = false, now
	}
	if f.Nameless() && in.Rival != "" {
		reference := in.Scaler.Spec.TargetRef
		f.Trouble = fmt.Sprintf("%s keeps overwriting what Kyklos sets in %s %s: three times in window %s. Only one of the two can decide: "+
			"make the other leave the target alone, or set spec.pause", in.Rival, reference.Kind, reference.Name, in.Window)
	}
	return f
}

func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// On reports whether there is a fight.
func (f *Fight) On() bool { return f.Rewrites >= fightThreshold }

// Nameless reports whether there is a fight and the rival was not looked up yet.
func (f *Fight) Nameless() bool { return f.On() && f.Trouble == "" }

// calm is the time without a rewrite for the fight to be over: longer than a rival that writes at
// intervals ever left it alone.
func (f *Fight) calm() time.Duration { return max(leastCalm, 2*f.stood) }

// Due is the earliest time of the next correction: in a fight they become rarer (B3).
func (f *Fight) Due() time.Time {
	if !f.On() || f.corrected.IsZero() {
		return time.Time{}
	}
	step := max(f.corrections-(fightThreshold-1), 0)
	return f.corrected.Add(intervals[min(step, len(intervals)-1)])
}

// Over is when the fight is over if the count is not rewritten until then; zero if there is no fight, or the count is
// not ours.
func (f *Fight) Over() time.Time {
	if !f.On() || f.Rewritten {
		return time.Time{}
	}
	return f.set.Add(f.calm())
}

// Correct records a write to the target.
func (f *Fight) Correct(now time.Time) {
	if !f.Rewritten {
		return // a boundary, or a metric's count
	}
	f.Rewritten, f.set, f.corrected = false, now, now
	f.corrections++
}

// fromStatus restores a fight after a restart. It continues with the longest interval, so that a manager
// that crashes repeatedly does not fight faster. ours: the target has the desired count.
func fromStatus(tws *v1beta1.TimeWindowScaler, here occurrence, ours bool) Fight {
	status := &tws.Status
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	if degraded == nil || degraded.Reason != v1beta1.ReasonFieldFight || status.ObservedGeneration != here.generation ||
		status.CurrentWindow != here.window || here.effective >= 0 && here.effective != ptr.Deref(status.EffectiveReplicas, -1) {
		return Fight{}
	}
	f := Fight{
		occurrence: here, Rewrites: fightThreshold, corrections: fightThreshold + len(intervals),
		Rewritten: !ours, Trouble: degraded.Message, Announced: true,
	}
	if last := status.LastScaleTime; last != nil {
		f.set, f.corrected = last.Time, last.Time
	}
	return f
}
