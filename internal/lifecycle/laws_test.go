package lifecycle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/lifecycle"
)

// anyInput is any input, also one that no history leads to.
func anyInput(t *rapid.T) lifecycle.Input {
	pick := seeded(rapid.Uint64().Draw(t, "seed"))
	yes := func(of int) bool { return pick(of) == 0 }
	choose := func(all ...string) string { return all[pick(len(all))] }
	when := func() time.Time { return noon.Add(time.Duration(pick(7200)-3600) * time.Second) }
	in := at(want(states[pick(3)]))
	in.Observed.Live, in.Observed.PodsLive = !yes(4), !yes(4)
	in.Observed.Failed, in.Workspace.Pause, in.Workspace.Finalizer = yes(20), yes(10), !yes(10)
	in.Workspace.Deleting, in.Workspace.NamespaceTerminating, in.Workspace.HasStore = yes(4), yes(4), !yes(5)
	in.Workspace.DeletionPolicy = lifecycle.DeletionPolicy(choose("Delete", "ArchiveThenDelete", "Retain"))
	in.Workspace.Adopts = choose("", "", "v")
	in.Workspace.AcceptedLoss, in.Workspace.RetryToken = choose("", "", "v"), choose("", "", "token")
	in.Status.Phase = lifecycle.State(choose("", "PENDING", "STANDBY", "RUNNING", "ERROR", "DELETING"))
	in.Status.Volume.UID, in.Status.Volume.Content = choose("v", "v", "", "u"), lifecycle.Content(choose("Empty", "Restored", "Uninitialized"))
	in.Status.ArchiveKey = choose("", "archives/w/op/home.tar.gz", "archives/w/old/home.tar.gz")
	in.Status.Archive = lifecycle.Archive{SHA256: "s", Size: 1, VolumeUID: choose("v", "u"), Epoch: 3, Store: choose("", "x", "y")}
	in.Status.Operation.Type = lifecycle.OperationType(choose("NONE", "PROVISIONING", "RESTORING", "STARTING", "STOPPING", "ARCHIVING", "ARCHIVING", "DELETING"))
	if claim := &in.Status.Operation; claim.Type != lifecycle.None && in.Status.Phase != lifecycle.Failed {
		claim.ID, claim.Attempt, claim.StartedAt, claim.AttemptStartedAt, claim.NextRetryAt = "op", 1, when(), when(), when()
		claim.PointOfNoReturn, claim.Failed, claim.JobName = yes(2) && claim.Type == lifecycle.Archiving, lifecycle.Reason(choose("", "", "", "Timeout")), choose("", "ws-home-op-1")
	} else {
		in.Status.Operation = lifecycle.Operation{Type: lifecycle.None}
	}
	in.Observed.Pod = lifecycle.Pod{State: lifecycle.PodState(choose("", "", "", "NotReady", "Ready", "Terminating", "Ended")), Foreign: yes(6), UID: "p", OperationID: choose("op", "x"), Attempt: 1}
	in.Observed.Volume.State = lifecycle.VolumeState(choose("", "Pending", "WaitForFirstConsumer", "Bound", "Bound", "Terminating", "Lost"))
	in.Observed.Volume.Foreign, in.Observed.Volume.OperationID = yes(6), choose("op", "x")
	in.Observed.Volume.Marker = lifecycle.Marker{Content: lifecycle.Content(choose("", "Empty", "Restored")), RestoredFrom: in.Status.ArchiveKey, OperationID: choose("op", "x")}
	for range pick(3) * pick(2) {
		in.Observed.Jobs = append(in.Observed.Jobs, lifecycle.Job{
			Name: "j", UID: choose("j", "k"), State: lifecycle.JobState(choose("Running", "Succeeded", "Failed", "Terminating")), OperationID: choose("op", "x"), Attempt: 1, VolumeUID: choose("v", "u"),
		})
	}
	in.Observed.OtherPods = pick(2) * pick(2)
	in.Archive = lifecycle.ArchiveView{
		Key: choose("", "archives/w/op/home.tar.gz", "archives/w/old/home.tar.gz"), Verdict: lifecycle.Verdict(choose("", "Verified", "Verified", "Absent", "Corrupt", "StoreUnreachable", "BucketMissing")),
		Archive: lifecycle.Archive{SHA256: choose("s", "t"), Size: 1, VolumeUID: choose("v", "u"), Epoch: int64(2 + pick(2))},
		Store:   choose("", "x", "y"),
	}
	in.Newest = lifecycle.ArchiveView{
		Key: choose("archives/w/newest/home.tar.gz", "archives/x/old/home.tar.gz"), Verdict: lifecycle.Verdict(choose("", "", "Verified", "Corrupt", "Absent", "NotConfigured", "StoreUnreachable", "BucketMissing", "NotOurs", "KeptLost")),
	}
	in.Workspace.RestoreFrom = choose("", "", "latest", "empty", "archives/x/old/home.tar.gz")
	in.Observed.Volume.Left = in.Observed.Volume.Foreign && in.Observed.Volume.Marker.Content != "" && in.Observed.Volume.State != "" && yes(2)
	in.Workspace.ArchiveReady = lifecycle.Truth(choose("", "True", "False", "False", "Unknown"))
	if in.Workspace.CreatedAt = noon; yes(2) {
		in.Workspace.CreatedAt = noon.Add(-time.Hour)
	}
	in.Limits.MoversFull, in.MoverAccepted = yes(3), yes(3)
	for i := range in.Observed.Jobs {
		if yes(3) {
			in.Observed.Jobs[i].PodlessSince = when()
		}
	}
	if yes(10) {
		in.Rejected = lifecycle.Rejection{Reason: lifecycle.Unreachable, Final: yes(2)}
	}
	return in
}

// TestLaws: whatever the input, reachable or not.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 200 {
			in := anyInput(t)
			if broken := law(in, lifecycle.Decide(in)); broken != "" {
				t.Fatalf("%s\n%+v", broken, in)
			}
		}
	})
}

// law returns the law that a decision breaks; "" for none.
func law(in lifecycle.Input, d lifecycle.Decision) string {
	before, after, pod, volume := in.Status, d.Status, in.Observed.Pod, in.Observed.Volume
	acts, writes := d.Act.Kind, d.Status != in.Status
	held, holds := before.Operation.HoldsMover(in.Now, false), after.Operation.HoldsMover(in.Now, false)
	looks := acts == lifecycle.ActNone || acts == lifecycle.ActReadLive || acts == lifecycle.ActReadPods
	users := pod.State != lifecycle.PodAbsent && !pod.Foreign || in.Observed.OtherPods > 0 || len(in.Observed.Jobs) > 0
	home := before.Volume.UID == volume.UID && before.Volume.Content != lifecycle.Uninitialized
	good := in.Archive.Verdict == lifecycle.Verified
	removing := before.Operation.Type == lifecycle.Removing
	elsewhere := before.ArchiveKey != "" && before.Archive.Store != "" && in.Archive.Store != "" && before.Archive.Store != in.Archive.Store && in.Archive.Key == before.ArchiveKey &&
		in.Archive.Verdict != lifecycle.Verified && in.Workspace.AcceptedLoss != before.ArchiveKey
	switch {
	case d.Rule == "":
		return "no rule decides"
	case writes && acts != lifecycle.ActNone:
		return "it writes and acts at once"
	case !in.Observed.Live && (writes || !looks):
		return "it acts on a cache"
	case in.Workspace.Pause && !in.Workspace.Deleting && in.Workspace.Finalizer && !looks && acts != lifecycle.ActFindArchive:
		return "it acts while paused"
	case after.Phase == lifecycle.Failed && writes && after.Operation.Type != lifecycle.None:
		return "ERROR with an operation (D8)"
	case acts == lifecycle.ActDeleteVolume && (volume.Foreign || d.Act.UID != volume.UID || d.Act.ResourceVersion == ""):
		return "it deletes a stranger's volume (D20)"
	case acts == lifecycle.ActDeleteVolume && (!in.Observed.PodsLive || len(in.Observed.Jobs) > 0 || users && !removing):
		return "it deletes a volume in use (D3, D18)"
	case acts == lifecycle.ActDeleteVolume && home && !removing && before.Volume.UID == "v":
		return "it deletes a home"
	case acts == lifecycle.ActDeleteVolume && !removing && !good && volume.State == lifecycle.VolumeBound &&
		(before.Operation.PointOfNoReturn || before.ArchiveKey != "" && before.Archive.VolumeUID == volume.UID):
		return "it deletes without a look into the store (D4)"
	case after.Operation.PointOfNoReturn && !before.Operation.PointOfNoReturn && (!good || in.Archive.Archive.Epoch != before.Volume.Epoch || in.Archive.Archive.VolumeUID != before.Volume.UID || in.Archive.Key != after.ArchiveKey):
		return "it records an archive that is not verified, or old (D2, D4)"
	case acts == lifecycle.ActCreateJob && (users || !in.Observed.PodsLive):
		return "a Job beside other users of the volume (D3, D7)"
	case acts == lifecycle.ActCreatePod && (home && volume.State == lifecycle.VolumeTerminating || !home || volume.Foreign):
		return "a Pod on what is no home (D1, D17)"
	case elsewhere && before.Error != after.Error && (after.Error.Code == lifecycle.CodeArchiveLost || after.Error.Code == lifecycle.CodeArchiveCorrupt):
		return "it takes what is elsewhere for lost (D23)"
	case elsewhere && acts == lifecycle.ActRemoveFinalizer && in.Workspace.DeletionPolicy != lifecycle.DeleteHome && in.Workspace.HasStore && !in.Workspace.NamespaceTerminating:
		return "it leaves to the collection what is elsewhere (D23)"
	case acts == lifecycle.ActRemoveFinalizer && in.Workspace.DeletionPolicy != lifecycle.DeleteHome && in.Workspace.HasStore && !in.Workspace.NamespaceTerminating &&
		before.ArchiveKey != "" && before.ArchiveKey != in.Workspace.AcceptedLoss && in.Archive.Verdict != lifecycle.Verified && in.Observed.Volume.State == lifecycle.VolumeAbsent:
		return "it gives up an archive that the deletion is to keep (W99)"
	case d.Act.Unname && (acts != lifecycle.ActRemoveFinalizer || in.Workspace.DeletionPolicy != lifecycle.DeleteHome):
		return "it ends what is kept under the name (W101)"
	case in.Limits.MoversFull && holds && !held && d.Rule != "Overdue": // which corrects the times after the clock was set back
		return "it takes a mover's slot that is not there (W56)"
	case before.Operation.JobName == "" && after.Operation.JobName != "" && !holds:
		return "a mover without a slot (W56)"
	case before.ArchiveKey != "" && after.ArchiveKey == "" && in.Workspace.AcceptedLoss == "":
		return "it forgets an archive (D6)"
	}
	return searchLaw(in, d)
}

// searchLaw is about a status that names no archive: it may have named one.
func searchLaw(in lifecycle.Input, d lifecycle.Decision) string {
	before, after, found := in.Status, d.Status, in.Newest.Verdict
	home := in.Observed.Volume.State != lifecycle.VolumeAbsent && !in.Observed.Volume.Foreign
	if before.ArchiveKey != "" || !in.Workspace.HasStore || in.Workspace.Deleting || home || after == before || before.Volume.UID != "" && before.Volume.Content != lifecycle.Uninitialized {
		return ""
	}
	old := in.Now.Sub(in.Workspace.CreatedAt) >= 5*time.Minute
	first, pending := before.Phase == "", before.Phase == lifecycle.Pending
	hint := first || before.Archive != lifecycle.Archive{} || in.Workspace.ArchiveReady != lifecycle.False
	starts := after.Operation.Type == lifecycle.Provisioning && before.Operation.Type != lifecycle.Provisioning && in.Workspace.AcceptedLoss == ""
	unknown := found == lifecycle.StoreUnreachable || found == lifecycle.BucketMissing || found == lifecycle.NotOurs || found == lifecycle.KeptLost
	from := in.Workspace.RestoreFrom
	named := from != "" && from != lifecycle.FromNothing && (first || in.Workspace.AcceptedLoss == "")
	excused := first && from == lifecycle.FromNothing && (!old || !in.Workspace.Finalizer) ||
		from == "" && in.Observed.Volume.Left && before.Volume == (lifecycle.Volume{})
	asks := !excused && (first || pending && (hint || named || old && starts))
	after.ObservedGeneration = before.ObservedGeneration
	v := in.Observed.Volume
	chosen := in.Workspace.Adopts == v.UID && before.Volume.UID != v.UID && !in.Workspace.Pause && v.State != lifecycle.VolumeTerminating && v.State != lifecycle.VolumeLost
	if chosen && found != lifecycle.Unknown && found != lifecycle.Verified && found != lifecycle.Corrupt {
		return "" // the home is known (W78)
	}
	switch {
	case asks && named && found == lifecycle.Absent && after != before:
		return "it begins without the archive that spec.restoreFrom names (W68)"
	case asks && (hint || named) && found == lifecycle.NotConfigured && after != before, asks && (found == lifecycle.Unknown || unknown) && after != before:
		return "it continues without knowing whether there is an archive (D6)"
	case asks && (found == lifecycle.Verified || found == lifecycle.Corrupt) && after.ArchiveKey != in.Newest.Key:
		return "it does not take the archive that it has found (D6)"
	case before.Archive != lifecycle.Archive{} && after.Archive == lifecycle.Archive{} && after.ArchiveKey == "" && pending && found != lifecycle.Absent && in.Workspace.AcceptedLoss == "":
		return "it forgets a hint that was not followed (D6)"
	}
	return ""
}
