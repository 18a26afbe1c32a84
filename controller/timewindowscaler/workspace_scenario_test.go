package timewindowscaler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// utc reads a time such as "2026-03-02 09:00", a Monday.
func utc(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// step is one pass of a scenario: what happens before it, and what follows.
type step struct {
	at     string
	before func(*workspaceScenario)
	// want is the desired state after the pass, ready the condition Ready, and events are the reasons.
	want   lifecycle.State
	ready  string
	events []string
}

func asks(state lifecycle.State) func(*workspaceScenario) {
	return func(d *workspaceScenario) { d.setState(state) }
}

// active is activity.
func active(d *workspaceScenario) { d.target.LastUse = d.now }

func pauses(pause bool) func(*workspaceScenario) {
	return func(d *workspaceScenario) {
		d.tws.Spec.Pause = pause
		d.tws.Generation++
	}
}

func uses(inUse bool) func(*workspaceScenario) {
	return func(d *workspaceScenario) { d.use(inUse) }
}

func graceOf(seconds int32) func(*workspaceScenario) {
	return func(d *workspaceScenario) { d.tws.Spec.GracePeriodSeconds = seconds }
}

const (
	reached = "True/Reconciled"
	left    = "True/Reconciled, left as others set it"
	inUse   = "True/TargetInUse, left as others set it"
)

var workspaceStories = map[string][]step{
	"a week": {
		{"2026-03-02 08:00", nil, "STANDBY", reached, nil},
		{"2026-03-02 09:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 12:00", asks("STANDBY"), "STANDBY", left, nil},
		{"2026-03-02 17:00", nil, "STANDBY", reached, nil},
		{"2026-03-02 20:00", asks("RUNNING"), "RUNNING", left, nil},
		{"2026-03-03 09:00", nil, "RUNNING", reached, nil},
		{"2026-03-06 17:30", nil, "STANDBY", reached, []string{"ScaledDown"}},
		{"2026-03-07 18:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-03-09 09:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-09 12:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-03-09 17:00", nil, "PENDING", left, nil},
	},
	"a missed night": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 16:00", asks("STANDBY"), "STANDBY", left, nil},
		{"2026-03-03 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
	},
	"the grace period delays the stop, and nothing else": {
		{"2026-03-02 10:00", graceOf(600), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 17:00", nil, "RUNNING", reached, []string{"GracePeriodStarted"}},
		{"2026-03-02 17:10", nil, "STANDBY", reached, []string{"ScaledDown"}},
		{"2026-03-03 16:00", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-03 16:30", asks("STANDBY"), "STANDBY", left, nil},
		{"2026-03-03 17:00", nil, "STANDBY", reached, nil}, // there is nothing to keep
	},
	"paused": {
		{"2026-03-02 08:00", nil, "STANDBY", reached, nil},
		{"2026-03-02 09:00", pauses(true), "STANDBY", "False/TargetMismatch", []string{"ScalingSkipped"}},
		{"2026-03-02 09:30", pauses(false), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 10:00", pauses(true), "RUNNING", reached, nil},
		{"2026-03-02 11:00", asks("STANDBY"), "STANDBY", left, nil},
		{"2026-03-02 12:00", pauses(false), "STANDBY", left, nil},
	},
	"enforced": {
		{"2026-03-02 10:00", func(d *workspaceScenario) { d.tws.Spec.DriftPolicy = v1beta1.DriftEnforce }, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:00", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:01", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:02", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:03", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 18:00", asks("PENDING"), "PENDING", left, nil},
	},
	"an archive that is kept": {
		{"2026-03-02 10:00", func(d *workspaceScenario) {
			d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{KeepArchived: true}
			d.setState("PENDING")
		}, "PENDING", left, []string{"KeptArchived"}},
		{"2026-03-02 11:00", asks("STANDBY"), "STANDBY", left, nil},
	},
	"W82: in use at the end of the window": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 17:00", uses(true), "RUNNING", inUse, []string{"StopWaits"}},
		{"2026-03-02 20:00", nil, "RUNNING", inUse, nil},
		{"2026-03-02 20:30", uses(false), "STANDBY", reached, []string{"ScaledDown"}},
		{"2026-03-02 21:00", func(d *workspaceScenario) { d.setState("RUNNING"); d.use(true) }, "RUNNING", left, nil},
	},
	"W82: in use until the next window": {
		{"2026-03-02 17:00", func(d *workspaceScenario) { d.setState("RUNNING"); d.use(true) }, "RUNNING", inUse, []string{"StopWaits"}},
		{"2026-03-03 09:00", nil, "RUNNING", reached, nil},
		{"2026-03-03 17:00", uses(false), "STANDBY", reached, []string{"ScaledDown"}},
	},
	"W82: heartbeats": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 17:00", func(d *workspaceScenario) { d.usedUntil = utc("2026-03-02 17:03") }, "RUNNING", inUse, []string{"StopWaits"}},
		{"2026-03-02 17:03", nil, "STANDBY", reached, []string{"ScaledDown"}},
	},
	"W82: strict hours": {
		{"2026-03-02 10:00", func(d *workspaceScenario) { d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{StopWhileInUse: true} }, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 17:00", uses(true), "STANDBY", reached, []string{"ScaledDown"}},
	},
	"W82: paused while it waits": {
		{"2026-03-02 17:00", func(d *workspaceScenario) { d.setState("RUNNING"); d.use(true) }, "RUNNING", inUse, []string{"StopWaits"}},
		{"2026-03-02 18:00", pauses(true), "RUNNING", left, nil},
		{"2026-03-02 19:00", pauses(false), "RUNNING", inUse, []string{"StopWaits"}},
		{"2026-03-02 20:00", uses(false), "STANDBY", reached, []string{"ScaledDown"}},
	},
	"its owner is on leave for two weeks": {
		{"2026-03-06 16:00", active, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-06 17:00", nil, "STANDBY", reached, []string{"ScaledDown"}},
		{"2026-03-07 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-03-09 09:00", nil, "RUNNING", reached, []string{"ScaledUp"}}, // not for long yet
		{"2026-03-09 09:10", asks("STANDBY"), "STANDBY", left, nil},
		{"2026-03-10 09:10", asks("PENDING"), "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-14 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-03-16 09:00", nil, "PENDING", left, []string{"KeptArchived"}},
		{"2026-03-16 09:30", nil, "PENDING", left, nil},
		{"2026-03-16 17:00", nil, "PENDING", left, nil},
		{"2026-03-17 09:00", nil, "PENDING", left, []string{"KeptArchived"}},
		{"2026-03-23 09:00", nil, "PENDING", left, []string{"KeptArchived"}},
		{"2026-03-23 09:20", asks("RUNNING"), "RUNNING", reached, nil}, // back again
		{"2026-03-23 17:00", nil, "STANDBY", reached, []string{"ScaledDown"}},
		{"2026-03-28 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-03-30 09:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-04-04 09:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-04-06 09:00", nil, "PENDING", left, []string{"KeptArchived"}}, // and away again
	},
	"its owner is on leave, and the schedule fetches it back": {
		{"2026-03-06 16:00", func(d *workspaceScenario) {
			active(d)
			d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{KeepArchivedAfterDays: ptr.To[int32](0)}
		}, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-04-04 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-04-06 09:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
	},
	"its owner is on leave, and enforced": {
		{"2026-03-06 16:00", func(d *workspaceScenario) {
			active(d)
			d.tws.Spec.DriftPolicy = v1beta1.DriftEnforce
		}, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-04-04 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-04-06 09:00", nil, "PENDING", left, []string{"KeptArchived"}},
		{"2026-04-06 09:01", nil, "PENDING", left, nil},
		{"2026-04-06 09:02", asks("RUNNING"), "RUNNING", reached, nil},
		{"2026-04-06 09:03", asks("STANDBY"), "RUNNING", reached, []string{"ScaledUp"}},
	},
	"its owner is on leave, and it is paused": {
		{"2026-03-06 16:00", active, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-04-04 17:00", asks("PENDING"), "PENDING", left, nil},
		{"2026-04-06 09:00", pauses(true), "PENDING", left, nil},
		{"2026-04-06 09:10", pauses(false), "PENDING", left, []string{"KeptArchived"}},
	},
	"another Workspace of the same name": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:00", func(d *workspaceScenario) {
			d.setState("STANDBY")
			d.target.UID = "w-2"
		}, "RUNNING", reached, []string{"ScaledUp"}},
	},
	"an edit that leaves the window's start alone": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:00", func(d *workspaceScenario) {
			d.setState("STANDBY")
			d.tws.Generation++
			d.tws.Spec.Windows[0].End, d.tws.Spec.GracePeriodSeconds = "18:00", 60
		}, "STANDBY", left, nil},
		{"2026-03-02 12:00", func(d *workspaceScenario) {
			d.tws.Generation++
			d.tws.Spec.Windows[0].Start = "08:00"
		}, "RUNNING", reached, []string{"ScaledUp"}},
	},
	"counts above 1": {
		{"2026-03-02 10:00", func(d *workspaceScenario) {
			d.tws.Spec.Windows[0].Replicas, d.tws.Spec.DefaultReplicas = intstr.FromInt32(3), intstr.FromInt32(2)
		}, "RUNNING", reached, []string{"InvalidSchedule", "ScaledUp"}},
		{"2026-03-02 11:00", nil, "RUNNING", reached, nil},
	},
	"a zone that is unknown here": {
		{"2026-03-02 10:00", nil, "RUNNING", reached, []string{"ScaledUp"}},
		{"2026-03-02 11:00", func(d *workspaceScenario) { d.tws.Spec.Timezone = "Mars/Olympus_Mons" }, "STANDBY", reached, nil},
		{"2026-03-02 12:00", asks("RUNNING"), "RUNNING", left, nil},
	},
}

func TestWorkspaceStories(t *testing.T) {
	for name, steps := range workspaceStories {
		t.Run(name, func(t *testing.T) {
			d, messages := newWorkspaceScenario(lifecycle.Standby), newTranscript(t)
			for _, step := range steps {
				d.now = utc(step.at)
				if step.before != nil {
					step.before(d)
				}
				s := d.pass(utc(step.at), false)
				if got := d.target.State; got != step.want {
					t.Errorf("%s: %s, want %s", step.at, got, step.want)
				}
				if ready, isLeft := strings.CutSuffix(step.ready, ", left as others set it"); isLeft != s.plan.Left {
					t.Errorf("%s: left %v", step.at, s.plan.Left)
				} else {
					expectCondition(t, messages, d.tws, "Ready", ready)
				}
				var reasons []string
				for _, ev := range s.events() {
					reasons = append(reasons, ev.Reason)
					messages.add(ev.Reason + ": " + ev.Note)
				}
				if diff := cmp.Diff(step.events, reasons); diff != "" && s.plan.badZone == "" {
					t.Errorf("%s: events (-want +got)\n%s", step.at, diff)
				}
				if got := meta.FindStatusCondition(d.tws.Status.Conditions, v1beta1.ConditionDegraded); got.Reason == v1beta1.ReasonFieldFight {
					t.Errorf("%s: a fight", step.at)
				}
			}
		})
	}
}
