package lifecycle_test

import (
	"regexp"
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// The simulator has to find the bug in each of these engines. Each makes a mistake that a rule of
// docs/requirements.md names; without this, a simulator that detects nothing would pass as well.

// seeing is an engine with a changed observation.
func seeing(change func(in *lifecycle.Input)) engine {
	return func(in lifecycle.Input) lifecycle.Decision {
		jobs := append([]lifecycle.Job(nil), in.Observed.Jobs...)
		in.Observed.Jobs = jobs
		before := in.Status
		change(&in)
		after := in.Status
		d := lifecycle.Decide(in)
		if d.Status == after {
			d.Status = before // it did not write, and does not now
		}
		return d
	}
}

var mutants = []struct {
	defect, mistake string
	engine          engine
	overwrite       bool
	wrong           string // what is to be found, a regular expression
}{
	{"D1", "a restore is complete when the volume is there", seeing(func(in *lifecycle.Input) {
		if in.Status.Operation.Type == lifecycle.Restoring && in.Observed.Volume.State == lifecycle.VolumeBound {
			in.Observed.Volume.Marker = lifecycle.Marker{Content: lifecycle.Restored, RestoredFrom: in.Status.ArchiveKey, OperationID: in.Status.Operation.ID}
			in.Observed.Jobs = nil
		}
	}), false, "sees|lost"},
	{"D2", "the id of an archive is reused, and its age is not checked", func(in lifecycle.Input) lifecycle.Decision {
		if in.Status.Phase == lifecycle.Standby && in.Workspace.Desired == lifecycle.Pending {
			in.NewID = "always-the-same"
		}
		if in.Archive.Verdict == lifecycle.Verified {
			in.Archive.Archive.VolumeUID, in.Archive.Archive.Epoch = in.Status.Volume.UID, in.Status.Volume.Epoch
		}
		return lifecycle.Decide(in)
	}, false, "sees|lost"},
	{"D3", "a Pod that is not ready writes nothing", seeing(func(in *lifecycle.Input) {
		if in.Observed.Pod.State != lifecycle.PodReady {
			in.Observed.Pod = lifecycle.Pod{}
		}
		in.Observed.OtherPods = 0
	}), false, "sees|lost"},
	{"D4", "an archive on record is not verified again", seeing(func(in *lifecycle.Input) {
		if in.Status.Operation.PointOfNoReturn {
			in.Archive = lifecycle.ArchiveView{Key: in.Status.ArchiveKey, Verdict: lifecycle.Verified,
				Archive: lifecycle.Archive{SHA256: in.Status.Archive.SHA256, Size: in.Status.Archive.Size,
					VolumeUID: in.Status.Archive.VolumeUID, Epoch: in.Status.Archive.Epoch}}
		}
	}), false, "lost"},
	{"D5", "archiving is complete when the volume is gone", func(in lifecycle.Input) lifecycle.Decision {
		d := lifecycle.Decide(in)
		if in.Status.Operation.Type == lifecycle.Archiving && in.Observed.Live && in.Observed.Volume.State == lifecycle.VolumeAbsent {
			d.Status, d.Act = in.Status, lifecycle.Action{}
			d.Status.Phase, d.Status.Operation, d.Status.Volume = lifecycle.Pending, lifecycle.Operation{Type: lifecycle.None}, lifecycle.Volume{}
		}
		return d
	}, false, "sees"},
	{"D6", "a volume that is gone was never there", func(in lifecycle.Input) lifecycle.Decision {
		in.Workspace.AcceptedLoss = in.Status.Volume.UID
		d := lifecycle.Decide(in)
		if d.Code == lifecycle.CodeLossAccepted {
			d.Code = lifecycle.CodeObserved
		}
		return d
	}, false, "sees"},
	{"D6b", "what the status does not name was never archived", seeing(func(in *lifecycle.Input) {
		in.Newest.Verdict = lifecycle.Absent
	}), false, "sees|lost"},
	{"D6c", "a store that does not answer has no archive", seeing(func(in *lifecycle.Input) {
		if in.Newest.Verdict == lifecycle.StoreUnreachable || in.Newest.Verdict == lifecycle.BucketMissing {
			in.Newest.Verdict = lifecycle.Absent
		}
	}), false, "sees|lost"},
	{"W67", "a Workspace that is new has no archive", seeing(func(in *lifecycle.Input) {
		if in.Status.Phase == "" {
			in.Newest.Verdict = lifecycle.Absent
		}
	}), false, "sees|lost"},
	{"W67b", "what is left behind is a stranger's", seeing(func(in *lifecycle.Input) {
		in.Observed.Volume.Left = false
	}), false, "sees|lost|converge"},
	{"D7", "uploads overwrite each other", lifecycle.Decide, true, "lost"},
	{"D17", "a volume that is being deleted is as good as another", seeing(func(in *lifecycle.Input) {
		if in.Observed.Volume.State == lifecycle.VolumeTerminating {
			in.Observed.Volume.State = lifecycle.VolumeBound
		}
	}), false, ""},
	{"D18", "ended Jobs hold no volume", seeing(func(in *lifecycle.Input) {
		var running []lifecycle.Job
		for _, job := range in.Observed.Jobs {
			if job.State == lifecycle.JobRunning {
				running = append(running, job)
			}
		}
		in.Observed.Jobs = running
	}), false, ""},
	{"D20", "whatever has the right name is ours", seeing(func(in *lifecycle.Input) {
		in.Observed.Volume.Foreign = false
	}), false, ""},
	{"D23", "a bucket that is missing is an archive that is missing", seeing(func(in *lifecycle.Input) {
		if in.Archive.Verdict == lifecycle.BucketMissing {
			in.Archive.Verdict = lifecycle.Absent
		}
	}), false, "alarm"},
	{"D23b", "what is not in the store of now is nowhere", seeing(func(in *lifecycle.Input) {
		in.Archive.Store = in.Status.Archive.Store
	}), false, "alarm"},
	{"W78", "whatever has the right name was chosen", seeing(func(in *lifecycle.Input) {
		in.Workspace.Adopts = in.Observed.Volume.UID
	}), false, "AdoptVolume on a stranger's volume"},
	{"W99", "a deletion gives up what is away", func(in lifecycle.Input) lifecycle.Decision {
		if in.Status.Operation.Type == lifecycle.Removing {
			in.Workspace.AcceptedLoss = in.Status.ArchiveKey
		}
		return lifecycle.Decide(in)
	}, false, "lost"},
	{"W100", "a kept archive that is not complete is none", seeing(func(in *lifecycle.Input) {
		if in.Newest.Verdict == lifecycle.KeptLost {
			in.Newest.Verdict = lifecycle.Absent
		}
	}), false, "sees|lost"},
	{"W25", "it acts before it has written", func(in lifecycle.Input) lifecycle.Decision {
		d, ahead := lifecycle.Decide(in), in
		ahead.Status, ahead.Observed.Live, ahead.Observed.PodsLive = d.Status, true, true // and believes its cache
		if next := lifecycle.Decide(ahead); d.Status != in.Status && next.Act.Kind != lifecycle.ActNone {
			next.Status = in.Status
			return next
		}
		return d
	}, false, "."},
}

// sound runs the engine itself.
func sound(seed uint64, backups, hides bool) string {
	h := newHistory(lifecycle.Decide, seeded(seed))
	h.backups, h.hides = backups, hides
	return h.run(150)
}

// rare are mistakes that few histories show: a search from the first one on takes long.
var rare = map[string]uint64{"D5": 11000, "W67b": 23000}

// TestSimulatorFindsMutants runs each mutant until it is detected, which takes a few thousand
// histories at most.
func TestSimulatorFindsMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.defect, func(t *testing.T) {
			t.Parallel()
			const most = 16000
			first := rare[m.defect]
			found := regexp.MustCompile(m.wrong)
			for seed := first; seed < first+most; seed++ {
				h := newHistory(m.engine, seeded(seed))
				h.overwrite, h.backups, h.hides = m.overwrite, m.defect == "W78", m.defect == "W99" || m.defect == "W100"
				if wrong := h.run(150); wrong != "" && found.MatchString(wrong) {
					t.Logf("history %d: %s", seed, wrong)
					if wrong := sound(seed, h.backups, h.hides); wrong != "" {
						t.Errorf("but so does the engine itself: %s", wrong)
					}
					return
				}
			}
			t.Errorf("nothing is found wrong with an engine in which %s", m.mistake)
		})
	}
}

// TestCasesFindMutants runs naive engines over the rows that are about their mistakes.
func TestCasesFindMutants(t *testing.T) {
	rows := map[string]verdictCase{}
	for _, row := range verdictCases() {
		rows[row.name] = row
	}
	for _, m := range caseMutants {
		if row, there := rows[m.row]; !there || row.errs(m.engine) == "" {
			t.Errorf("the row %q finds nothing wrong with its mutant", m.row)
		}
	}
}
