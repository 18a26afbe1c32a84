package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/lifecycle"
)

// attempts lets an operation fail repeatedly, and returns the wait before each attempt,
// and the final state.
func attempts(in lifecycle.Input, refusals ...lifecycle.Reason) (waits []time.Duration, end lifecycle.Status) {
	for _, reason := range refusals {
		in.Rejected = lifecycle.Rejection{Reason: reason, Code: lifecycle.CodeRefused}
		in.Status = lifecycle.Decide(in).Status
		if in.Status.Operation.Failed == "" {
			waits = append(waits, in.Status.Operation.NextRetryAt.Sub(in.Now))
			in.Now = in.Status.Operation.NextRetryAt
		}
	}
	in.Rejected = lifecycle.Rejection{}
	return waits, lifecycle.Decide(in).Status
}

// TestAttempts: it is tried more and more slowly, and for ever unless a person has to decide (W71). Then attempts are one more than
// retries, and each reason counts for itself (D9).
func TestAttempts(t *testing.T) {
	const action, away, timeout, other = lifecycle.ActionFailed, lifecycle.Unreachable, lifecycle.Timeout, lifecycle.Mismatch
	seconds := func(all ...int) (waits []time.Duration) {
		for _, n := range all {
			waits = append(waits, time.Duration(n)*time.Second)
		}
		return waits
	}
	tests := []struct {
		name     string
		refusals []lifecycle.Reason
		waits    []time.Duration
		failed   lifecycle.Reason
	}{
		{"three retries", []lifecycle.Reason{other, other, other}, seconds(30, 60, 120), ""},
		{"and no fourth", []lifecycle.Reason{other, other, other, other}, seconds(30, 60, 120), other},
		{"each reason for itself", []lifecycle.Reason{other, other, other, action, timeout}, seconds(30, 60, 120, 240, 300), ""},
		{"timeouts for ever", slices.Repeat([]lifecycle.Reason{timeout}, 8), seconds(30, 60, 120, 240, 300, 300, 300, 300), ""},
		{"refusals for ever", slices.Repeat([]lifecycle.Reason{action}, 7), seconds(30, 60, 120, 240, 300, 300, 300), ""},
		{"what is away for ever", slices.Repeat([]lifecycle.Reason{away}, 6), seconds(30, 60, 120, 240, 300, 300), ""},
		{"a loss at once", []lifecycle.Reason{lifecycle.DataLost}, nil, lifecycle.DataLost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			waits, end := attempts(at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0)), tt.refusals...)
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if failed := end.Phase == lifecycle.Failed; failed != (tt.failed != "") || failed && end.Error.Reason != tt.failed {
				t.Errorf("in the end %s, %s", end.Phase, end.Error.Reason)
			}
			if end.Phase == lifecycle.Failed && end.Operation != (lifecycle.Operation{Type: lifecycle.None}) {
				t.Errorf("ERROR with %+v", end.Operation)
			}
			if end.Phase != lifecycle.Failed && end.Operation.Attempt != int32(len(tt.refusals))+1 {
				t.Errorf("attempt %d", end.Operation.Attempt)
			}
		})
	}
	in := at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0))
	in.Rejected = lifecycle.Rejection{Reason: action, Final: true}
	if s := lifecycle.Decide(in).Status; s.Operation.Failed != "" || s.Operation.NextRetryAt.Sub(in.Now) != 5*time.Minute {
		t.Errorf("what takes another spec is tried soon: %+v", s.Operation)
	}
}

// TestNothingRunsAfterAnError: what an operation started is gone before ERROR (D7).
func TestNothingRunsAfterAnError(t *testing.T) {
	over := func(in *lifecycle.Input) { in.Status.Operation.Failed = lifecycle.Timeout }
	tests := []struct {
		in  lifecycle.Input
		act lifecycle.ActionKind
	}{
		{at(inOperation(lifecycle.Archiving, 0), over, moving(lifecycle.JobRunning)), lifecycle.ActDeleteJob},
		{at(inOperation(lifecycle.Archiving, 0), over, moving(lifecycle.JobTerminating)), lifecycle.ActNone},
		{at(inOperation(lifecycle.Starting, 0), want(lifecycle.Running), over, inPod(lifecycle.PodNotReady)), lifecycle.ActDeletePod},
		{at(inOperation(lifecycle.Starting, 0), want(lifecycle.Running), over, inPod(lifecycle.PodTerminating)), lifecycle.ActNone},
	}
	for _, tt := range tests {
		if d := lifecycle.Decide(tt.in); d.Act.Kind != tt.act || d.Status != tt.in.Status {
			t.Errorf("%s: %s, %s", d.Rule, d.Act.Kind, d.Status.Phase)
		}
	}
	if d := lifecycle.Decide(at(inOperation(lifecycle.Archiving, 0), over)); d.Status.Phase != lifecycle.Failed {
		t.Errorf("%s: %s", d.Rule, d.Status.Phase)
	}
}

// TestWaysOutOfError: D8.
func TestWaysOutOfError(t *testing.T) {
	erred := func(reason lifecycle.Reason, code lifecycle.Code, ago time.Duration) func(*lifecycle.Input) {
		return func(in *lifecycle.Input) {
			in.Status.Phase = lifecycle.Failed
			in.Status.Error = lifecycle.Failure{Reason: reason, Code: code, OccurredAt: noon.Add(-ago)}
			in.Status.RetryToken, in.Workspace.RetryToken = "old", "old"
		}
	}
	accept := func(what string) func(*lifecycle.Input) {
		return func(in *lifecycle.Input) { in.Workspace.AcceptedLoss = what }
	}
	keyed := func(in *lifecycle.Input) { in.Status.ArchiveKey = "archives/w/k/home.tar.gz" }
	gone := volumeIs(lifecycle.VolumeAbsent)
	const timeout, lost, away, other = lifecycle.Timeout, lifecycle.DataLost, lifecycle.Unreachable, lifecycle.Mismatch
	tests := []struct {
		name string
		in   lifecycle.Input
		out  lifecycle.State
	}{
		{"it stays", at(erred(other, lifecycle.CodeVolumeForeign, time.Hour)), lifecycle.Failed},
		{"a timeout of an earlier version, a while ago", at(erred(timeout, "", lifecycle.Probe)), lifecycle.Standby},
		{"the spec changes", at(erred(other, "", 0), func(in *lifecycle.Input) { in.Workspace.Generation = 2 }), lifecycle.Standby},
		{"a retry is asked for", at(erred(other, "", 0), func(in *lifecycle.Input) { in.Workspace.RetryToken = "new" }), lifecycle.Standby},
		{"unreachable, a while ago", at(erred(away, "", lifecycle.Probe)), lifecycle.Standby},
		{"a refused mover, a while ago", at(erred(lifecycle.ActionFailed, lifecycle.CodeFailedCreate, lifecycle.Probe)), lifecycle.Standby},
		{"a refused mover, just now", at(erred(lifecycle.ActionFailed, lifecycle.CodeFailedCreate, time.Minute)), lifecycle.Failed},
		{"unreachable, just now", at(erred(away, "", time.Minute)), lifecycle.Failed},
		{"the lost volume", at(erred(lost, lifecycle.CodeVolumeLost, 0), gone, accept("v")), lifecycle.Pending},
		{"another volume", at(erred(lost, lifecycle.CodeVolumeLost, 0), gone, accept("u")), lifecycle.Failed},
		{"the lost archive", at(unrecorded, gone, erred(lost, lifecycle.CodeArchiveLost, 0), keyed, accept("archives/w/k/home.tar.gz")), lifecycle.Pending},
		{"an archive that is not lost", at(erred(lost, lifecycle.CodeVolumeLost, 0), gone, keyed, accept("archives/w/k/home.tar.gz")), lifecycle.Failed},
		{"what is elsewhere is given up", at(unrecorded, gone, erred(away, lifecycle.CodeArchiveElsewhere, 0), keyed, accept("archives/w/k/home.tar.gz")), lifecycle.Pending},
		{"another is given up", at(unrecorded, gone, erred(away, lifecycle.CodeArchiveElsewhere, 0), keyed, accept("v")), lifecycle.Failed},
		{"no loss", at(erred(other, "", 0), accept("v")), lifecycle.Failed},
		{"deletion", at(erred(timeout, "", 0), func(in *lifecycle.Input) { in.Workspace.Deleting = true }), lifecycle.Deleting},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := lifecycle.Decide(tt.in)
			if d.Status.Phase != tt.out {
				t.Errorf("%s, want %s", d.Status.Phase, tt.out)
			}
			if d.Status.Phase == lifecycle.Failed && d.Status != tt.in.Status {
				t.Error("it writes while it holds")
			}
		})
	}
}

// TestCrashLoop: the first death is followed at once, further ones more and more slowly (D16).
func TestCrashLoop(t *testing.T) {
	in := at(want(lifecycle.Running), inPod(lifecycle.PodEnded))
	var waits []time.Duration
	for _, lived := range []time.Duration{time.Hour, time.Minute, time.Minute, 9 * time.Minute, time.Second, time.Second, time.Second, 10 * time.Minute} {
		in.Status.Phase, in.Status.RunningSince = lifecycle.Running, in.Now.Add(-lived)
		in.Status = lifecycle.Decide(in).Status
		waits = append(waits, max(0, in.Status.NextStartAt.Sub(in.Now)))
	}
	second := time.Second
	want := []time.Duration{0, 10 * second, 20 * second, 40 * second, 80 * second, 160 * second, 300 * second, 0}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// failing is an operation with a failed attempt, which waits for its next one.
func failing(operation lifecycle.OperationType, code lifecycle.Code) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		inOperation(operation, time.Hour)(in)
		o := &in.Status.Operation
		o.Attempt, o.NextRetryAt, o.AttemptStartedAt, o.JobName = 7, noon.Add(4*time.Minute), noon.Add(4*time.Minute), ""
		o.Failures.ActionFailed = 6
		in.Status.Error = lifecycle.Failure{Reason: lifecycle.ActionFailed, Operation: operation, Code: code, OccurredAt: noon.Add(-time.Minute)}
	}
}

// W72: a change of the spec and a request begin the next attempt at once; nothing else does.
func TestTheNextAttemptIsHurried(t *testing.T) {
	in := at(want(lifecycle.Running), failing(lifecycle.Starting, lifecycle.CodeRefused))
	if d := lifecycle.Decide(in); d.Status != in.Status || d.Code != lifecycle.CodeRetrying || d.Conditions.Ready.Reason != lifecycle.CodeRefused {
		t.Errorf("it does not wait with its reason: %s, %+v", d.Code, d.Conditions.Ready)
	}
	for name, change := range map[string]func(*lifecycle.Input){
		"the spec":  func(in *lifecycle.Input) { in.Workspace.Generation++ },
		"a request": func(in *lifecycle.Input) { in.Workspace.RetryToken = "now" },
	} {
		in := at(want(lifecycle.Running), failing(lifecycle.Starting, lifecycle.CodeRefused), change)
		in.Status = lifecycle.Decide(in).Status
		if d := lifecycle.Decide(in); d.Act.Kind != lifecycle.ActCreatePod || d.Act.Attempt != 7 {
			t.Errorf("%s: %s, %+v", name, d.Act.Kind, in.Status.Operation)
		}
	}
}

// W72: what leads up and has failed ends when it is no longer desired. What has not failed runs to its end (D12).
func TestWhatFailsIsGivenUp(t *testing.T) {
	for _, tt := range []struct {
		operation lifecycle.OperationType
		desired   lifecycle.State
		ends      bool
	}{
		{lifecycle.Starting, lifecycle.Running, false}, {lifecycle.Starting, lifecycle.Standby, true}, {lifecycle.Starting, lifecycle.Pending, true},
		{lifecycle.Restoring, lifecycle.Standby, false}, {lifecycle.Restoring, lifecycle.Running, false}, {lifecycle.Restoring, lifecycle.Pending, true},
		{lifecycle.Provisioning, lifecycle.Standby, false}, {lifecycle.Provisioning, lifecycle.Pending, true},
	} {
		in := at(want(tt.desired), failing(tt.operation, lifecycle.CodeTimedOut))
		if tt.operation == lifecycle.Provisioning || tt.operation == lifecycle.Restoring {
			unrecorded(&in)
			volumeIs(lifecycle.VolumeAbsent)(&in)
			in.Workspace.Desired = tt.desired
		}
		if d := lifecycle.Decide(in); (d.Status.Operation.Type == lifecycle.None) != tt.ends || tt.ends && d.Status.Error != (lifecycle.Failure{}) {
			t.Errorf("%s, %s desired: %s, %+v", tt.operation, tt.desired, d.Rule, d.Status.Operation)
		}
		in.Status.Operation.Failures = lifecycle.Failures{}
		if d := lifecycle.Decide(in); d.Status.Operation.Type != tt.operation {
			t.Errorf("%s, %s desired, without a failure: %s, %+v", tt.operation, tt.desired, d.Rule, d.Status.Operation)
		}
	}
}

// JobName is a label, which has at most 63 characters, however often it was tried.
func TestJobNameOfManyAttempts(t *testing.T) {
	seen := map[string]bool{}
	for attempt := int32(1); attempt < 300; attempt++ {
		name := lifecycle.JobName(strings.Repeat("a", 50), "0b7e9d0e", attempt)
		if len(name) > 63 || attempt < 100 && seen[name] || name == lifecycle.JobName(strings.Repeat("a", 50), "0b7e9d0e", attempt+1) {
			t.Errorf("attempt %d: %s", attempt, name)
		}
		seen[name] = true
	}
}
