package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/lifecycle"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// naiveIdle uses only the last activity, which D15 forbids.
func naiveIdle(in lifecycle.IdleInput) lifecycle.IdleDecision {
	in.Status.RunningSince, in.Status.StandbySince = time.Unix(1, 0), time.Unix(1, 0)
	return lifecycle.DecideIdle(in)
}

func TestIdle(t *testing.T) {
	ago := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
	running := lifecycle.Status{Phase: lifecycle.Running, Operation: lifecycle.Operation{Type: lifecycle.None}, RunningSince: ago(10)}
	standby := lifecycle.Status{Phase: lifecycle.Standby, Operation: lifecycle.Operation{Type: lifecycle.None}, StandbySince: ago(10)}
	fresh, busy := running, running
	fresh.RunningSince = ago(1)
	busy.Operation.Type = lifecycle.Stopping
	unknown := running
	unknown.RunningSince = time.Time{}
	failed := running
	failed.Phase = lifecycle.Failed
	stuck := standby // since the first attempt had to end, seven minutes ago
	stuck.Operation = lifecycle.Operation{Type: lifecycle.Starting, StartedAt: ago(12), Failures: lifecycle.Failures{Timeout: 2}}
	young, first, halfway, down := stuck, stuck, stuck, stuck
	young.Operation.StartedAt, first.Operation.Failures = ago(8), lifecycle.Failures{}
	halfway.Phase, halfway.Operation.Type = lifecycle.Pending, lifecycle.Restoring
	down.Phase, down.Operation.Type = lifecycle.Running, lifecycle.Stopping
	wanted := func(state lifecycle.State) func(*lifecycle.IdleInput) {
		return func(in *lifecycle.IdleInput) { in.Desired, in.Limit = state, 5*time.Minute }
	}
	with := func(status lifecycle.Status, change func(*lifecycle.IdleInput)) lifecycle.IdleInput {
		in := lifecycle.IdleInput{Now: noon, Desired: status.Phase, Status: status, HasStore: true, StandbyTTL: 5 * time.Minute, ArchiveTTL: 8 * time.Minute, Use: lifecycle.Idle}
		if change != nil {
			change(&in)
		}
		return in
	}
	use := func(use lifecycle.Use) func(*lifecycle.IdleInput) {
		return func(in *lifecycle.IdleInput) { in.Use = use }
	}
	none := lifecycle.IdleDecision{}
	tests := []struct {
		name  string
		in    lifecycle.IdleInput
		want  lifecycle.IdleDecision
		naive bool // the naive timer is wrong
	}{
		{"D15b: never visited, it does not run for ever", with(running, nil), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"D15a: a fresh start is not idle", with(fresh, nil), lifecycle.IdleDecision{DueAt: noon.Add(4 * time.Minute)}, true},
		{"D15a: nor if the last activity was long ago", with(fresh, func(in *lifecycle.IdleInput) { in.LastActivity = ago(600) }), lifecycle.IdleDecision{DueAt: noon.Add(4 * time.Minute)}, true},
		{"activity", with(running, func(in *lifecycle.IdleInput) { in.LastActivity = ago(2) }), lifecycle.IdleDecision{DueAt: noon.Add(3 * time.Minute)}, false},
		{"exactly idle", with(running, func(in *lifecycle.IdleInput) { in.LastActivity = ago(5) }), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"W37", with(standby, nil), lifecycle.IdleDecision{Desired: lifecycle.Pending}, false},
		{"D15c: the time to archive starts with STANDBY", with(standby, func(in *lifecycle.IdleInput) { in.Status.StandbySince, in.LastActivity = ago(1), ago(90) }), lifecycle.IdleDecision{DueAt: noon.Add(7 * time.Minute)}, true},
		{"no store", with(standby, func(in *lifecycle.IdleInput) { in.HasStore = false }), none, false},
		{"0 is off", with(running, func(in *lifecycle.IdleInput) { in.StandbyTTL = 0 }), none, false},
		{"D15d: it is wanted again", with(standby, func(in *lifecycle.IdleInput) { in.Desired = lifecycle.Running }), none, false},
		{"already asked to stop", with(running, func(in *lifecycle.IdleInput) { in.Desired = lifecycle.Standby }), none, false},
		{"W73: what fails to start does not try for ever", with(stuck, wanted(lifecycle.Running)), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"W73: its time begins when the first attempt must have ended", with(young, wanted(lifecycle.Running)), lifecycle.IdleDecision{DueAt: noon.Add(2 * time.Minute)}, false},
		{"W73: nor if it fails to be restored", with(halfway, wanted(lifecycle.Running)), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"W73: and for the archive", with(halfway, wanted(lifecycle.Standby)), lifecycle.IdleDecision{DueAt: noon.Add(time.Minute)}, false},
		{"W73: activity", with(stuck, func(in *lifecycle.IdleInput) { wanted(lifecycle.Running)(in); in.LastActivity = ago(1) }), lifecycle.IdleDecision{DueAt: noon.Add(4 * time.Minute)}, false},
		{"its first attempt", with(first, wanted(lifecycle.Running)), none, false},
		{"what fails to stop", with(down, wanted(lifecycle.Standby)), none, false},
		{"under way", with(busy, nil), none, false},
		{"W80: in use", with(running, use(lifecycle.InUse)), none, false},
		{"W80: in use when it was last seen, and stopped since", with(standby, use(lifecycle.InUse)), lifecycle.IdleDecision{Desired: lifecycle.Pending}, false},
		{"W81: nothing tells", with(running, use(lifecycle.Untold)), lifecycle.IdleDecision{Untold: true}, false},
		{"W81: nothing tells, and it would not be stopped", with(running, func(in *lifecycle.IdleInput) { in.Use, in.StandbyTTL = lifecycle.Untold, 0 }), none, false},
		{"W81: heartbeats tell", with(running, func(in *lifecycle.IdleInput) { in.Use, in.Heartbeats = lifecycle.Untold, true }), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"W81: nobody can use what is stopped", with(standby, use(lifecycle.Untold)), lifecycle.IdleDecision{Desired: lifecycle.Pending}, false},
		{"W81: nor what does not start", with(stuck, func(in *lifecycle.IdleInput) { wanted(lifecycle.Running)(in); in.Use = lifecycle.Untold }), lifecycle.IdleDecision{Desired: lifecycle.Standby}, false},
		{"since when is unknown", with(unknown, nil), none, false},
		{"in ERROR", with(failed, func(in *lifecycle.IdleInput) { in.Desired = lifecycle.Running }), none, false},
		{"paused", with(running, func(in *lifecycle.IdleInput) { in.Pause = true }), none, false},
		{"deleting", with(running, func(in *lifecycle.IdleInput) { in.Deleting = true }), none, false},
		{"archived", with(lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: lifecycle.None}}, nil), none, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lifecycle.DecideIdle(tt.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if errs := naiveIdle(tt.in) != tt.want; tt.naive && !errs {
				t.Error("this case does not find the naive timer's mistake")
			}
		})
	}
}

func TestEdge(t *testing.T) {
	in := func(replicas int32, applied lifecycle.Applied, desired lifecycle.State) lifecycle.EdgeInput {
		return lifecycle.EdgeInput{Replicas: replicas, Edge: "today", Applied: applied, Desired: desired}
	}
	up, down := lifecycle.Applied{State: lifecycle.Running, Edge: "today"}, lifecycle.Applied{State: lifecycle.Standby, Edge: "today"}
	yesterday := lifecycle.Applied{State: lifecycle.Running, Edge: "yesterday"}
	keep, enforce, paused := in(1, lifecycle.Applied{}, lifecycle.Pending), in(1, up, lifecycle.Standby), in(1, down, lifecycle.Standby)
	keep.KeepArchived, enforce.Enforce, paused.Pause = true, true, true
	used, strict, night, unpaused := in(0, up, lifecycle.Running), in(0, up, lifecycle.Running), in(0, down, lifecycle.Running), in(0, up, lifecycle.Running)
	used.InUse, strict.InUse, strict.StopWhileInUse, night.InUse, night.Enforce, unpaused.InUse, unpaused.Pause = true, true, true, true, true, true, true
	first := used
	first.Applied = lifecycle.Applied{}
	tests := []struct {
		name string
		in   lifecycle.EdgeInput
		want lifecycle.EdgeDecision
	}{
		{"the first look applies", in(1, lifecycle.Applied{}, lifecycle.Standby), lifecycle.EdgeDecision{Write: true, State: lifecycle.Running, Applied: up}},
		{"a window opens", in(3, down, lifecycle.Standby), lifecycle.EdgeDecision{Write: true, State: lifecycle.Running, Applied: up}},
		{"and wakes the archive", in(1, down, lifecycle.Pending), lifecycle.EdgeDecision{Write: true, State: lifecycle.Running, Applied: up}},
		{"unless it must not", keep, lifecycle.EdgeDecision{State: lifecycle.Pending, Applied: up}},
		{"a window closes", in(0, up, lifecycle.Running), lifecycle.EdgeDecision{Write: true, State: lifecycle.Standby, Applied: down}},
		{"and leaves the archive alone", in(0, up, lifecycle.Pending), lifecycle.EdgeDecision{State: lifecycle.Pending, Applied: down}},
		{"between edges the idle timer wins", in(1, up, lifecycle.Standby), lifecycle.EdgeDecision{State: lifecycle.Standby, Applied: up}},
		{"between edges the user wins", in(0, down, lifecycle.Running), lifecycle.EdgeDecision{State: lifecycle.Running, Applied: down}},
		{"a missed edge between two windows is caught up with", in(1, yesterday, lifecycle.Standby), lifecycle.EdgeDecision{Write: true, State: lifecycle.Running, Applied: up}},
		{"already so", in(1, down, lifecycle.Running), lifecycle.EdgeDecision{State: lifecycle.Running, Applied: up}},
		{"enforced", enforce, lifecycle.EdgeDecision{Write: true, State: lifecycle.Running, Applied: up}},
		{"W82: a window closes on one in use", used, lifecycle.EdgeDecision{State: lifecycle.Running, Applied: up, Waits: true}},
		{"W82: also at the first look", first, lifecycle.EdgeDecision{State: lifecycle.Running, Waits: true}},
		{"W82: unless hours are strict", strict, lifecycle.EdgeDecision{Write: true, State: lifecycle.Standby, Applied: down}},
		{"W82: what is started at night does not wait", night, lifecycle.EdgeDecision{Write: true, State: lifecycle.Standby, Applied: down}},
		{"W82: nor does a paused schedule", unpaused, lifecycle.EdgeDecision{State: lifecycle.Running, Applied: up}},
		{"paused", paused, lifecycle.EdgeDecision{State: lifecycle.Standby, Applied: down}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lifecycle.DecideEdge(tt.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
