package timewindowscaler

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	// fightThreshold is how many rewritings of the count that Kyklos set make a fight.
	fightThreshold = 3
	// leastCalm is how long the count has to stand, at least, for a fight to be over.
	leastCalm = 10 * time.Minute
	// longestCount is how long the count may stand between two rewritings that belong together.
	longestCount = 24 * time.Hour
)

// OnFight says what to do about others who rewrite the target's count again and again.
type OnFight string

// The values of --on-fight.
const (
	// FightBackOff corrects the count at growing intervals.
	FightBackOff OnFight = "backoff"
	// FightEnforce corrects it at once, every time.
	FightEnforce OnFight = "enforce"
)

// Validate says what is wrong, in the words of the flag.
func (o OnFight) Validate() error {
	if o != FightBackOff && o != FightEnforce {
		return fmt.Errorf("--on-fight: must be %s or %s, not %q", FightBackOff, FightEnforce, string(o))
	}
	return nil
}

// stay is what a fight is about: a window, from its beginning to its end, of one spec and one target.
type stay struct {
	target     types.UID
	generation int64
	window     string
	// effective is the count, so that the end of a grace period begins another stay. Where a metric
	// decides, which moves the count all the time, it is -1.
	effective int32
}

func stayOf(tws *v1beta1.TimeWindowScaler, obs observation, p *plan) stay {
	s := stay{target: obs.target.uid, generation: tws.Generation, window: p.window, effective: p.effective}
	if p.metric.window != "" {
		s.effective = -1
	}
	return s
}

// fight is what is known of others who rewrite the target's count within one stay.
type fight struct {
	stay stay
	// rewritings counts how often they did, and corrections how often Kyklos set the count right.
	rewritings, corrections int
	// rewritten: the count is theirs now, and that is counted.
	rewritten bool
	// set is since when the count is ours, corrected when Kyklos last set it right.
	set, corrected time.Time
	// stood is the longest time that it was ours between two rewritings.
	stood time.Duration
	// trouble names the rival, once there is a fight.
	trouble string
	// told: the fight has been announced.
	told bool
}

// fightObservation is what a plan knows of a fight: what the last pass made of it, what the flag says,
// and the rival's name if that was asked for.
type fightObservation struct {
	before  fight
	enforce bool
	rival   string
}

// decideFight counts what others did to the count that p wants. It is made of the count as seen, so that
// it does not matter how many passes see one rewriting.
func decideFight(tws *v1beta1.TimeWindowScaler, obs observation, p *plan, now time.Time) fight {
	if obs.target == nil || obs.owner != "" || tws.Spec.Pause {
		return fight{}
	}
	here, ours := stayOf(tws, obs, p), obs.target.asksFor(p.effective)
	f := obs.fight.before
	if f.stay == (stay{}) {
		f = recalledFight(tws, here, ours)
	}
	if f.stay != here {
		f = fight{stay: here, set: now}
	}
	f.set, f.corrected = earlier(f.set, now), earlier(f.corrected, now) // after a clock that was set back
	if calm := now.Sub(f.set); !f.rewritten && (f.on() && calm >= f.calm() || !f.on() && calm > longestCount) {
		f = fight{stay: here, set: now}
	}
	switch {
	case p.drift && !f.rewritten:
		if f.rewritings > 0 {
			f.stood = max(f.stood, now.Sub(f.set))
		}
		f.rewritings++
		f.rewritten = true
	case ours && f.rewritten:
		f.rewritten, f.set = false, now
	}
	if f.on() && f.trouble == "" && obs.fight.rival != "" {
		f.trouble = fought(tws, obs, p.window)
	}
	return f
}

func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// on reports whether there is a fight.
func (f *fight) on() bool { return f.rewritings >= fightThreshold }

// nameless reports whether there is a fight and nobody asked yet who the rival is.
func (f *fight) nameless() bool { return f.on() && f.trouble == "" }

// calm is how long the count has to stand for the fight to be over: longer than a rival that comes at
// intervals ever left it alone.
func (f *fight) calm() time.Duration { return max(leastCalm, 2*f.stood) }

// due is the earliest time of the next correction: in a fight they come at the pace of B10.
func (f *fight) due() time.Time {
	if !f.on() || f.corrected.IsZero() {
		return time.Time{}
	}
	step := max(f.corrections-(fightThreshold-1), 0)
	return f.corrected.Add(backOff[min(step, len(backOff)-1)])
}

// correct takes note of a write to the target.
func (f *fight) correct(now time.Time) {
	if !f.rewritten {
		return // a flip, or a metric's count
	}
	f.rewritten, f.set, f.corrected = false, now, now
	f.corrections++
}

// fightWakeUp is when a fight needs a look that nothing else brings: for the next correction, or to see
// that it is over. Zero means never. f is the plan's, with what was done since.
func (p *plan) fightWakeUp(f *fight) time.Time {
	switch {
	case p.waiting:
		return f.due()
	case f.on() && !f.rewritten:
		return f.set.Add(f.calm())
	default:
		return time.Time{}
	}
}

// recalledFight is what the status tells of a fight after a restart. It goes on with the longest
// interval, so that a manager that crashes again and again does not fight faster. ours says whether the
// target has the count that it should have.
func recalledFight(tws *v1beta1.TimeWindowScaler, here stay, ours bool) fight {
	status := &tws.Status
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	if degraded == nil || degraded.Reason != v1beta1.ReasonFieldFight || status.ObservedGeneration != here.generation ||
		status.CurrentWindow != here.window || here.effective >= 0 && here.effective != ptr.Deref(status.EffectiveReplicas, -1) {
		return fight{}
	}
	f := fight{stay: here, rewritings: fightThreshold, corrections: fightThreshold + len(backOff), rewritten: !ours, trouble: degraded.Message, told: true}
	if last := status.LastScaleTime; last != nil {
		f.set, f.corrected = last.Time, last.Time
	}
	return f
}

// fought says for condition and event alike who rewrites the count.
func fought(tws *v1beta1.TimeWindowScaler, obs observation, window string) string {
	deed := "rewrites the replicas that Kyklos sets in %s %s"
	if obs.target.daemons != nil {
		deed = "undoes what Kyklos sets in %s %s"
	}
	reference := tws.Spec.TargetRef
	return fmt.Sprintf("%s "+deed+": three times in window %s; only one of the two can decide: have the other leave the target alone, or set spec.pause",
		obs.fight.rival, reference.Kind, reference.Name, window)
}
