package timewindowscaler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/lifecycle"
)

// shift is a window of whole hours on some days of the week that starts on 2026-03-02, a Monday.
type shift struct {
	days       []int
	start, end int
	replicas   int32
}

func (s shift) covers(hour int) bool {
	day, h := hour/24, hour%24
	if s.start < s.end {
		return slices.Contains(s.days, day%7) && s.start <= h && h < s.end
	}
	return slices.Contains(s.days, day%7) && h >= s.start || slices.Contains(s.days, (day+6)%7) && h < s.end
}

var anyShift = rapid.Custom(func(t *rapid.T) shift {
	s := shift{
		days:     rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 1, 7, rapid.ID[int]).Draw(t, "days"),
		start:    rapid.IntRange(0, 23).Draw(t, "start"),
		replicas: rapid.Int32Range(0, 3).Draw(t, "replicas"),
	}
	s.end = (s.start + rapid.IntRange(1, 23).Draw(t, "hours")) % 24
	return s
})

func (s shift) window(i int) v1beta1.Window {
	names := []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	w := v1beta1.Window{
		Name: fmt.Sprintf("w%d", i), Start: fmt.Sprintf("%02d:00", s.start), End: fmt.Sprintf("%02d:00", s.end),
		Replicas: intstr.FromInt32(s.replicas),
	}
	for _, day := range s.days {
		w.Days = append(w.Days, names[day])
	}
	return w
}

// expectation is the oracle: hours are numbered, a stretch is a run of hours with the same window, and
// the last decision in a stretch applies until its end.
type expectation struct {
	shifts                []shift
	enforce, keepArchived bool
	strict, inUse         bool // stopWhileInUse; whether somebody uses the Workspace
	days                  int  // without use after which it stays archived; 0 for never

	// The hours of the last activity, of the last start by a user that was noted, and of the one by which it runs; never if negative.
	active, started, startedNow int

	hour, decider, stretch int
	handled                int // the last stretch that the schedule has acted on; 0 for none
	desired                lifecycle.State
	writes                 map[int]int // by stretch
}

func (e *expectation) deciderAt(hour int) int {
	decider := -1
	for i, s := range e.shifts {
		if s.covers(hour) {
			decider = i
		}
	}
	return decider
}

func (e *expectation) goTo(hour int) {
	for ; e.hour < hour; e.hour++ {
		if next := e.deciderAt(e.hour + 1); next != e.decider {
			e.decider = next
			e.stretch++
		}
	}
}

// pass is what a pass should do. lost: its status is not written.
func (e *expectation) pass(hour int, paused, lost bool) {
	use := max(e.active, e.started)
	unused := e.days > 0 && use >= 0 && hour >= use+24*e.days // the pass is a minute after the hour
	if byUser := e.startedNow; !lost && byUser >= 0 && (e.handled > 0 || !paused) {
		e.started = byUser
	}
	if paused || e.handled == e.stretch && !e.enforce {
		return
	}
	wanted := lifecycle.Standby
	if e.decider >= 0 && e.shifts[e.decider].replicas > 0 {
		wanted = lifecycle.Running
	}
	if wanted == lifecycle.Standby && e.desired == lifecycle.Running && e.inUse && !e.strict && e.handled != e.stretch {
		return // it is stopped when nobody uses it
	}
	kept := e.desired == lifecycle.Pending && (wanted == lifecycle.Standby || e.keepArchived || unused)
	if e.desired != wanted && !kept {
		e.desired, e.startedNow = wanted, -1
		e.writes[e.stretch]++
	}
	if !lost {
		e.handled = e.stretch
	}
}

// write is a write by a user. It does not start what runs.
func (e *expectation) write(hour int, desired lifecycle.State) {
	switch {
	case desired != lifecycle.Running:
		e.startedNow = -1
	case e.desired != lifecycle.Running:
		e.startedNow = hour
	}
	e.desired = desired
}

// Users and idle timers write what they like, the manager is away at times, dies between its two writes, and
// is paused: at each edge the schedule decides, once, and between edges everybody else does.
func TestWorkspaceAgainstAnOracle(t *testing.T) {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	states := []lifecycle.State{lifecycle.Pending, lifecycle.Standby, lifecycle.Running}
	rapid.Check(t, func(t *rapid.T) {
		e := &expectation{
			shifts:  rapid.SliceOfN(anyShift, 1, 3).Draw(t, "windows"),
			enforce: rapid.IntRange(0, 3).Draw(t, "enforce") == 0, keepArchived: rapid.Bool().Draw(t, "keepArchived"), strict: rapid.Bool().Draw(t, "strict"),
			days: rapid.IntRange(0, 3).Draw(t, "days"), active: -1, started: -1, startedNow: -1,
			stretch: 1, desired: rapid.SampledFrom(states).Draw(t, "at first"), writes: map[int]int{},
		}
		e.decider = e.deciderAt(0)
		workspaceScenario := newWorkspaceScenario(e.desired)
		workspaceScenario.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{
			KeepArchived: e.keepArchived, StopWhileInUse: e.strict, KeepArchivedAfterDays: ptr.To(int32(e.days)),
		}
		workspaceScenario.tws.Spec.DriftPolicy = map[bool]v1beta1.DriftPolicy{true: v1beta1.DriftEnforce}[e.enforce]
		workspaceScenario.tws.Spec.Windows = nil
		for i, s := range e.shifts {
			workspaceScenario.tws.Spec.Windows = append(workspaceScenario.tws.Spec.Windows, s.window(i))
		}
		writes := map[int]int{}
		for hour := 0; hour < 6*24; hour++ {
			e.goTo(hour)
			if rapid.IntRange(0, 5).Draw(t, "a user writes") == 0 {
				e.write(hour, rapid.SampledFrom(states).Draw(t, "state"))
				workspaceScenario.now = monday.Add(time.Duration(hour) * time.Hour)
				workspaceScenario.setState(e.desired)
			}
			e.inUse = rapid.IntRange(0, 2).Draw(t, "in use") == 0
			workspaceScenario.use(e.inUse)
			if e.desired == lifecycle.Running && rapid.IntRange(0, 9).Draw(t, "activity") == 0 {
				e.active = hour
				workspaceScenario.target.LastUse = monday.Add(time.Duration(hour) * time.Hour)
			}
			hour += rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 2, 30}).Draw(t, "away")
			e.goTo(hour)
			workspaceScenario.tws.Spec.Pause = rapid.IntRange(0, 9).Draw(t, "pause") == 0
			lost := rapid.IntRange(0, 9).Draw(t, "status lost") == 0
			e.pass(hour, workspaceScenario.tws.Spec.Pause, lost)
			if workspaceScenario.pass(monday.Add(time.Duration(hour)*time.Hour+time.Minute), lost).plan.Write {
				writes[e.stretch]++
			}
			if got := workspaceScenario.target.State; got != e.desired {
				t.Fatalf("hour %d: %s, want %s", hour, got, e.desired)
			}
		}
		for stretch, n := range e.writes {
			if writes[stretch] != n {
				t.Fatalf("%d writes in stretch %d, want %d", writes[stretch], stretch, n)
			}
		}
	})
}

// workspaceScenario is one Workspace with its scaler; like scenario, it drives the pure part of the passes.
type workspaceScenario struct {
	tws    *v1beta1.TimeWindowScaler
	target *target.Workspace
	// usedUntil is how long the last heartbeat counts.
	usedUntil time.Time
	now       time.Time
}

func newWorkspaceScenario(desired lifecycle.State) *workspaceScenario {
	tws := &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ada-hours", UID: "u-1", Generation: 1},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef: v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"},
			Timezone:  "UTC",
			Windows: []v1beta1.Window{{
				Name: "office", Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(1),
			}},
		},
	}
	d := &workspaceScenario{tws: tws, target: &target.Workspace{Common: target.Common{UID: "w-1"}}}
	d.setState(desired)
	return d
}

// use lets somebody use the Workspace, or stop to.
func (d *workspaceScenario) use(inUse bool) {
	next := *d.target
	next.InUse = inUse
	d.target = &next
}

// setState writes the Workspace's desired state, as a user does, and it gets there at once.
func (d *workspaceScenario) setState(desired lifecycle.State) {
	before := d.target
	next := &target.Workspace{Common: target.Common{UID: before.UID}, State: desired, Settled: true, LastUse: before.LastUse, InUse: before.InUse}
	if desired == lifecycle.Running {
		next.Spec, next.Observed = 1, 1
		if next.StartedByOthers = d.now; before.State == lifecycle.Running {
			next.StartedByOthers = before.StartedByOthers
		}
	}
	d.target = next
}

// pass runs one pass; its status is stored unless it is lost.
func (d *workspaceScenario) pass(now time.Time, lost bool) *passResult {
	d.now = now
	obs := observation{target: d.target, heartbeat: heartbeat{until: d.usedUntil}}
	p := plan(d.tws, obs, now)
	done := outcome{target: d.target}
	if p.Write {
		if d.setState(lifecycle.Standby); p.effective > 0 {
			d.setState(lifecycle.Running)
		}
		d.target.StartedByOthers = time.Time{}
		done = outcome{scaled: true, from: obs.target.Base().Spec, target: d.target}
	}
	s := &passResult{tws: d.tws.DeepCopy(), obs: obs, plan: p, outcome: done, now: now}
	if !lost {
		d.tws.Status = s.status()
	}
	return s
}
