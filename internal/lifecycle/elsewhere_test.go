package lifecycle_test

import (
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// away is a history of an archived home whose Secret now names another store.
func away(t *testing.T) *history {
	t.Helper()
	h := used(t)
	h.want(lifecycle.Pending)
	h.trace(t)
	if h.store = "y"; h.saved.Archive.Store != "x" {
		t.Fatalf("the archive is recorded in %q", h.saved.Archive.Store)
	}
	return h
}

// stuck continues until the Workspace is in ERROR because its archive is elsewhere.
func (h *history) stuck(t *testing.T) {
	t.Helper()
	for range 12 { // each back-off is longer than the decisions of one
		h.now = h.now.Add(lifecycle.Probe)
		if h.controllers[0].decide(h.world, h.snapshot()); h.saved.Phase == lifecycle.Failed {
			break
		}
		h.progress()
	}
	if e := h.saved.Error; h.saved.Phase != lifecycle.Failed || e.Reason != lifecycle.Unreachable || e.Code != lifecycle.CodeArchiveElsewhere {
		t.Fatalf("it is %s with %+v\n%s", h.saved.Phase, e, h.transcript())
	}
}

// runs checks that the home is restored with the last written version.
func (h *history) runs(t *testing.T) {
	t.Helper()
	if h.trace(t); h.vol == nil || h.vol.version != 1 || h.saved.Archive.Store != h.store {
		t.Errorf("the home is not back from the store %s:\n%s", h.store, h.transcript())
	}
}

// TestWhatIsElsewhereIsNotLost: both restoring the Secret and copying the archive end it (D23).
func TestWhatIsElsewhereIsNotLost(t *testing.T) {
	for name, help := range map[string]func(*history){
		"pointed back": func(h *history) { h.store = "x" },
		"copied": func(h *history) {
			twin := *h.objects[h.saved.ArchiveKey]
			h.objects[place("y", h.saved.ArchiveKey)] = &twin
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := away(t)
			h.want(lifecycle.Running)
			h.stuck(t)
			help(h)
			h.now = h.now.Add(lifecycle.Probe)
			h.runs(t)
		})
	}
}

// TestAStoreThatWasMovedWorks, and is recorded before anything rests on it.
func TestAStoreThatWasMovedWorks(t *testing.T) {
	h := away(t)
	h.objects[place("y", h.saved.ArchiveKey)] = h.objects[h.saved.ArchiveKey]
	delete(h.objects, h.saved.ArchiveKey)
	h.want(lifecycle.Running)
	h.runs(t)
}

// TestWhatIsElsewhereCanBeGivenUp, also before ERROR.
func TestWhatIsElsewhereCanBeGivenUp(t *testing.T) {
	for _, waits := range []bool{true, false} {
		h := away(t)
		h.want(lifecycle.Running)
		if waits {
			h.stuck(t)
		}
		h.ws.AcceptedLoss, h.excused, h.damaged, h.rv = h.saved.ArchiveKey, true, true, h.rv+1
		if h.trace(t); h.vol == nil || h.vol.version != 0 || h.saved.ArchiveKey != "" {
			t.Errorf("it does not continue with an empty home:\n%s", h.transcript())
		}
	}
}

// TestARecordWithoutAStore is a status of an earlier version: it is unknown that it was another store.
func TestARecordWithoutAStore(t *testing.T) {
	h := away(t)
	h.saved.Archive.Store = ""
	h.damaged = true
	h.want(lifecycle.Running)
	h.until(t, "an ERROR", func() bool { return h.saved.Phase == lifecycle.Failed })
	if h.saved.Error.Code != lifecycle.CodeArchiveLost || h.saved.Error.Reason != lifecycle.DataLost {
		t.Errorf("%+v", h.saved.Error)
	}
	h = away(t)
	h.saved.Archive.Store, h.store = "", "x"
	h.want(lifecycle.Running)
	if h.trace(t); h.vol == nil || h.vol.version != 1 || h.saved.Archive.Store != "" {
		t.Errorf("the home is not back as before:\n%s", h.transcript())
	}
}

// TestAVolumeStaysWhileItsArchiveIsElsewhere: the last check before the deletion is in another store.
func TestAVolumeStaysWhileItsArchiveIsElsewhere(t *testing.T) {
	h := used(t)
	h.want(lifecycle.Pending)
	for range 60 {
		if h.saved.Operation.PointOfNoReturn {
			break
		}
		h.controllers[0].decide(h.world, h.snapshot())
		h.progress()
	}
	h.store = "y"
	h.stuck(t)
	if h.vol == nil || h.vol.state == lifecycle.VolumeTerminating {
		t.Fatalf("the volume is gone:\n%s", h.transcript())
	}
	h.store, h.now = "x", h.now.Add(lifecycle.Probe)
	if h.trace(t); h.vol != nil || !h.safe() {
		t.Errorf("it is not archived in the end:\n%s", h.transcript())
	}
}

// decides lets one controller decide so many times, a probe apart, and returns its last decision.
func (h *history) decides(times int) (last lifecycle.Decision) {
	h.controllers[0].engine = func(in lifecycle.Input) lifecycle.Decision {
		last = lifecycle.Decide(in)
		return last
	}
	for range times {
		h.controllers[0].decide(h.world, h.snapshot())
		h.progress()
		h.now = h.now.Add(lifecycle.Probe)
	}
	return last
}

// TestADeletionWaitsForWhatIsElsewhere, for any time: it reports that, and does not leave behind what the collection
// would delete. Once given up, the archive blocks nothing.
func TestADeletionWaitsForWhatIsElsewhere(t *testing.T) {
	for _, givenUp := range []bool{false, true} {
		h := away(t)
		h.ws.Deleting, h.ws.DeletionPolicy = true, lifecycle.RetainHome
		h.rv++
		last := h.decides(10)
		stalled := lifecycle.Condition{Status: lifecycle.True, Reason: lifecycle.CodeDeletionSlow}
		if h.gone || last.Code != lifecycle.CodeArchiveElsewhere || last.Conditions.Stalled != stalled {
			t.Fatalf("gone %t, %s, %+v", h.gone, last.Code, last.Conditions)
		}
		if givenUp {
			h.ws.AcceptedLoss, h.excused, h.rv = h.saved.ArchiveKey, true, h.rv+1
		} else {
			h.store = "x"
		}
		h.trace(t)
		if kept := h.objects[h.saved.ArchiveKey].kept; !h.gone || kept == givenUp {
			t.Errorf("given up: %t; gone %t, kept %t\n%s", givenUp, h.gone, kept, h.transcript())
		}
	}
}

// TestAMoverThatReadAnotherStore: the Secret was changed between the last check and the mover's ticket. The mover's result is compared
// with another check.
func TestAMoverThatReadAnotherStore(t *testing.T) {
	said := func(code lifecycle.Code) func(*lifecycle.Input) {
		return func(in *lifecycle.Input) {
			inOperation(lifecycle.Restoring, 0)(in)
			moving(lifecycle.JobFailed)(in)
			in.Observed.Jobs[0].Reason, in.Observed.Jobs[0].Code = lifecycle.DataLost, code
			in.Status.ArchiveKey, in.Status.Volume = "archives/w/op/home.tar.gz", lifecycle.Volume{UID: "v", Content: lifecycle.Uninitialized}
			in.Status.Archive = lifecycle.Archive{SHA256: "s", Size: 1, Store: "x"}
		}
	}
	at := func(code lifecycle.Code, verdict lifecycle.Verdict, store string) lifecycle.Input {
		in := at(unrecorded, said(code), found(verdict, 3))
		in.Archive.Store = store
		return in
	}
	const lost, corrupt, attempt = lifecycle.CodeArchiveLost, lifecycle.CodeArchiveCorrupt, "Attempt"
	for _, c := range []verdictCase{
		{"not checked yet", at(lost, lifecycle.Unknown, "x"), attempt, lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"it is lost", at(lost, lifecycle.Absent, "x"), attempt, lifecycle.ActNone, lost, "", ""},
		{"it is elsewhere", at(lost, lifecycle.Absent, "y"), attempt, lifecycle.ActNone, lifecycle.CodeArchiveElsewhere, "", ""},
		{"it is there after all", at(lost, lifecycle.Verified, "x"), attempt, lifecycle.ActNone, lifecycle.CodeJobFailed, "", ""},
		{"its data are damaged", at(corrupt, lifecycle.Verified, "x"), attempt, lifecycle.ActNone, corrupt, "", ""},
	} {
		if errs := c.errs(lifecycle.Decide); errs != "" {
			t.Errorf("%s: %s", c.name, errs)
		}
	}
}
