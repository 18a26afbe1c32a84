package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

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

// step is one moment of a story: what somebody does before it, and what follows from the pass.
type step struct {
	at     string
	before func(*desk)
	// asked is the desired state after the pass, ready the condition Ready, in full, and told the events.
	asked lifecycle.State
	ready string
	told  []string
}

func asks(state lifecycle.State) func(*desk) { return func(d *desk) { d.asks(state) } }

func pauses(pause bool) func(*desk) {
	return func(d *desk) {
		d.tws.Spec.Pause = pause
		d.tws.Generation++
	}
}

func graceOf(seconds int32) func(*desk) {
	return func(d *desk) { d.tws.Spec.GracePeriodSeconds = seconds }
}

const (
	runs    = "True/Reconciled: Target is RUNNING as desired (window: office)"
	stopped = "True/Reconciled: Target is STANDBY as desired (window: OffHours)"
	opens   = "Workspace set from STANDBY to RUNNING (window: office)"
	closes  = "Workspace set from RUNNING to STANDBY (window: OffHours)"
)

func left(state, why string) string {
	return "True/Reconciled: Target is left in " + state + ", as somebody else asked for; the next window boundary decides anew (" + why + ")"
}

var workspaceStories = map[string][]step{
	"a week": {
		{"2026-03-02 08:00", nil, "STANDBY", stopped, nil},
		{"2026-03-02 09:00", nil, "RUNNING", runs, []string{opens}},
		{"2026-03-02 12:00", asks("STANDBY"), "STANDBY", left("STANDBY", "window: office"), nil},
		{"2026-03-02 17:00", nil, "STANDBY", stopped, nil},
		{"2026-03-02 20:00", asks("RUNNING"), "RUNNING", left("RUNNING", "window: OffHours"), nil},
		{"2026-03-03 09:00", nil, "RUNNING", runs, nil},
		{"2026-03-06 17:30", nil, "STANDBY", stopped, []string{closes}},
		{"2026-03-07 18:00", asks("PENDING"), "PENDING", left("PENDING", "window: OffHours"), nil},
		{"2026-03-09 09:00", nil, "RUNNING", runs, []string{"Workspace set from PENDING to RUNNING (window: office)"}},
		{"2026-03-09 12:00", asks("PENDING"), "PENDING", left("PENDING", "window: office"), nil},
		{"2026-03-09 17:00", nil, "PENDING", left("PENDING", "window: OffHours"), nil},
	},
	"a missed night": {
		{"2026-03-02 10:00", nil, "RUNNING", runs, []string{opens}},
		{"2026-03-02 16:00", asks("STANDBY"), "STANDBY", left("STANDBY", "window: office"), nil},
		{"2026-03-03 10:00", nil, "RUNNING", runs, []string{opens}},
	},
	"the grace period delays the stop, and nothing else": {
		{"2026-03-02 10:00", graceOf(600), "RUNNING", runs, []string{opens}},
		{"2026-03-02 17:00", nil, "RUNNING", "True/Reconciled: Target is RUNNING as desired (grace period)", []string{"Grace period started: 600s before the Workspace is stopped"}},
		{"2026-03-02 17:10", nil, "STANDBY", stopped, []string{"Workspace set from RUNNING to STANDBY after 600s grace period"}},
		{"2026-03-03 16:00", asks("STANDBY"), "RUNNING", runs, []string{opens}},
		{"2026-03-03 16:30", asks("STANDBY"), "STANDBY", left("STANDBY", "window: office"), nil},
		{"2026-03-03 17:00", nil, "STANDBY", left("STANDBY", "grace period"), []string{"Grace period started: 600s before the Workspace is stopped"}},
		{"2026-03-03 17:10", nil, "STANDBY", stopped, nil},
	},
	"paused": {
		{"2026-03-02 08:00", nil, "STANDBY", stopped, nil},
		{"2026-03-02 09:00", pauses(true), "STANDBY", "False/TargetMismatch: Target is to be STANDBY but desired is RUNNING (pause=true)", []string{"Scaling skipped due to pause: current=STANDBY, desired=RUNNING"}},
		{"2026-03-02 09:30", pauses(false), "RUNNING", runs, []string{opens}},
		{"2026-03-02 10:00", pauses(true), "RUNNING", runs, nil},
		{"2026-03-02 11:00", asks("STANDBY"), "STANDBY", left("STANDBY", "window: office"), nil},
		{"2026-03-02 12:00", pauses(false), "STANDBY", left("STANDBY", "window: office"), nil},
	},
	"enforced": {
		{"2026-03-02 10:00", func(d *desk) { d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{Enforce: true} }, "RUNNING", runs, []string{opens}},
		{"2026-03-02 11:00", asks("STANDBY"), "RUNNING", runs, []string{"Corrected manual drift: Workspace set from STANDBY to RUNNING (window: office)"}},
		{"2026-03-02 11:01", asks("STANDBY"), "RUNNING", runs, []string{"Corrected manual drift: Workspace set from STANDBY to RUNNING (window: office)"}},
		{"2026-03-02 11:02", asks("STANDBY"), "RUNNING", runs, []string{"Corrected manual drift: Workspace set from STANDBY to RUNNING (window: office)"}},
		{"2026-03-02 11:03", asks("STANDBY"), "RUNNING", runs, []string{"Corrected manual drift: Workspace set from STANDBY to RUNNING (window: office)"}},
		{"2026-03-02 18:00", asks("PENDING"), "PENDING", left("PENDING", "window: OffHours"), nil},
	},
	"an archive that is kept": {
		{"2026-03-02 10:00", func(d *desk) {
			d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{KeepArchived: true}
			d.asks("PENDING")
		}, "PENDING", left("PENDING", "window: office"), nil},
		{"2026-03-02 11:00", asks("STANDBY"), "STANDBY", left("STANDBY", "window: office"), nil},
	},
	"another Workspace of the same name": {
		{"2026-03-02 10:00", nil, "RUNNING", runs, []string{opens}},
		{"2026-03-02 11:00", func(d *desk) {
			d.asks("STANDBY")
			d.target.uid = "w-2"
		}, "RUNNING", runs, []string{opens}},
	},
	"an edit that leaves the window's start alone": {
		{"2026-03-02 10:00", nil, "RUNNING", runs, []string{opens}},
		{"2026-03-02 11:00", func(d *desk) {
			d.asks("STANDBY")
			d.tws.Generation++
			d.tws.Spec.Windows[0].End, d.tws.Spec.GracePeriodSeconds = "18:00", 60
		}, "STANDBY", left("STANDBY", "window: office"), nil},
		{"2026-03-02 12:00", func(d *desk) {
			d.tws.Generation++
			d.tws.Spec.Windows[0].Start = "08:00"
		}, "RUNNING", runs, []string{opens}},
	},
	"counts above 1": {
		{"2026-03-02 10:00", func(d *desk) {
			d.tws.Spec.Windows[0].Replicas, d.tws.Spec.DefaultReplicas = intstr.FromInt32(3), intstr.FromInt32(2)
		}, "RUNNING", runs, []string{"spec.defaultReplicas: a Workspace runs or is stopped: 2 means the same as 1; there are others: 2 in all", opens}},
		{"2026-03-02 11:00", nil, "RUNNING", runs, nil},
	},
	"a zone that is unknown here": {
		{"2026-03-02 10:00", nil, "RUNNING", runs, []string{opens}},
		{"2026-03-02 11:00", func(d *desk) { d.tws.Spec.Timezone = "Mars/Olympus_Mons" }, "STANDBY", stopped, nil},
		{"2026-03-02 12:00", asks("RUNNING"), "RUNNING", left("RUNNING", "window: OffHours"), nil},
	},
}

func TestWorkspaceStories(t *testing.T) {
	for name, steps := range workspaceStories {
		t.Run(name, func(t *testing.T) {
			d := newDesk(lifecycle.Standby)
			for _, step := range steps {
				if step.before != nil {
					step.before(d)
				}
				s := d.passes(utc(step.at), false)
				if got := d.target.session.desired; got != step.asked {
					t.Errorf("%s: %s, want %s", step.at, got, step.asked)
				}
				ready := meta.FindStatusCondition(d.tws.Status.Conditions, v1beta1.ConditionReady)
				if got := string(ready.Status) + "/" + ready.Reason + ": " + ready.Message; got != step.ready {
					t.Errorf("%s:\n got %s\nwant %s", step.at, got, step.ready)
				}
				var told []string
				for _, ev := range s.announcements() {
					told = append(told, ev.Note)
				}
				if diff := cmp.Diff(step.told, told); diff != "" && s.plan.badZone == "" {
					t.Errorf("%s: events (-want +got)\n%s", step.at, diff)
				}
				if got := meta.FindStatusCondition(d.tws.Status.Conditions, v1beta1.ConditionDegraded); got.Reason == v1beta1.ReasonFieldFight {
					t.Errorf("%s: a fight", step.at)
				}
			}
		})
	}
}
