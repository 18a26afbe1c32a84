package lifecycle

import "time"

// execute does the next step of the operation. Every step is idempotent (W5).
func (e *evaluation) execute() bool {
	operation := e.Status.Operation
	if operation.Type == None {
		return false
	}
	if e.endStrays() {
		return true
	}
	if e.before(operation.NextRetryAt) {
		return e.hurry() || e.wait(e.unlessAway(CodeRetrying), operation.NextRetryAt)
	}
	if operation.waitsForMover() {
		return e.takeMover()
	}
	switch operation.Type {
	case Provisioning:
		return e.provision()
	case Restoring:
		return e.restore()
	case Starting:
		return e.start()
	case Stopping:
		return e.endPod()
	default:
		return e.archive()
	}
}

// hurry begins the next attempt at once after a change of the spec, or if a retry is requested (W72).
func (e *evaluation) hurry() bool {
	s, token := &e.out.Status, e.Workspace.RetryToken
	if e.given.ObservedGeneration == e.Workspace.Generation && (token == "" || token == e.given.RetryToken) {
		return false
	}
	s.Operation.NextRetryAt, s.Operation.AttemptStartedAt, s.RetryToken = e.Now, e.Now, token
	e.out.Code = e.unlessAway(CodeRetrying)
	return true
}

// unlessAway returns code, but a store that could not be reached stays the reason until it is used again (W61).
func (e *evaluation) unlessAway(code Code) Code {
	if failure := e.Status.Error; failure.Reason == Unreachable && failure.Code == CodeStoreUnreachable {
		return failure.Code
	}
	return code
}

// start creates the Pod. A Pod of another operation or attempt is deleted first. Nothing starts on a volume that is being
// deleted (D17).
func (e *evaluation) start() bool {
	operation, pod := e.Status.Operation, e.Observed.Pod
	switch {
	case !e.home() || !e.Observed.Volume.usable(): // once the loss is accepted, the Pod must not keep the volume
		return e.endPod() || e.wait(CodeVolumeTerminating, time.Time{})
	case !pod.own():
		return e.act(CodeWorking, Action{
			Kind: ActCreatePod, UID: e.Status.Volume.UID, OperationID: operation.ID, Attempt: operation.Attempt, Epoch: e.Status.Volume.Epoch,
			CheckHome: e.Status.Volume.Content == Adopted,
		})
	case pod.OperationID != operation.ID || pod.Attempt != operation.Attempt || pod.State == PodTerminating:
		return e.endPod()
	default:
		return e.wait(CodePodNotReady, time.Time{})
	}
}

// endPod deletes the Pod gracefully and waits until the object is gone. It reports false once it is.
func (e *evaluation) endPod() bool {
	switch pod := e.Observed.Pod; {
	case !pod.own():
		return false
	case pod.State == PodTerminating:
		return e.wait(CodePodGone, time.Time{})
	case e.volumeTerminating() && (e.op() != Removing || e.Workspace.DeletionPolicy == RetainHome):
		return e.wait(CodeVolumeTerminating, time.Time{}) // only the Pod keeps it
	default:
		return e.act(CodeWorking, Action{Kind: ActDeletePod, UID: pod.UID})
	}
}

// job returns the Job of this attempt on this volume.
func (e *evaluation) job() (Job, bool) {
	operation := e.Status.Operation
	for _, job := range e.Observed.Jobs {
		if job.OperationID == operation.ID && job.Attempt == operation.Attempt && job.VolumeUID == e.Observed.Volume.UID &&
			job.State != JobTerminating {
			return job, true
		}
	}
	return Job{}, false
}

// endStrays deletes Jobs of other operations, attempts and volumes, and waits until they and their Pods are gone.
func (e *evaluation) endStrays() bool {
	own, found := e.job()
	for _, job := range e.Observed.Jobs {
		if !found || job.UID != own.UID {
			return e.endJob(job)
		}
	}
	return false
}

// endJobs deletes all Jobs and waits until they and their Pods are gone. It reports false once they are.
func (e *evaluation) endJobs() bool {
	for _, job := range e.Observed.Jobs {
		if job.State != JobTerminating {
			return e.endJob(job)
		}
	}
	return len(e.Observed.Jobs) > 0 && e.endJob(e.Observed.Jobs[0])
}

// endJob deletes one Job, or waits for it to be gone.
func (e *evaluation) endJob(job Job) bool {
	if job.State == JobTerminating {
		return e.wait(CodeJobEnding, e.Now.Add(restartPace))
	}
	return e.act(CodeJobEnding, Action{Kind: ActDeleteJob, Name: job.Name, UID: job.UID})
}

// verdict returns the verdict on the archive at key. If there is none yet, it requests one and reports false.
func (e *evaluation) verdict(key string) (Verdict, bool) {
	switch {
	case e.Archive.Key != key || e.Archive.Verdict == Unknown:
		return Unknown, !e.act(CodeWorking, Action{Kind: ActVerify, Key: key})
	case key == e.Status.ArchiveKey:
		return e.placed(e.Archive.Verdict), true
	default:
		return e.Archive.Verdict, true
	}
}

// placed compares the store of the verdict with the recorded one. If the Secret names another store and the archive is not in
// it, the archive is elsewhere, not lost, unless its loss is accepted. If it is there, it was moved, and the new store is
// recorded. A record without a store matches any store.
func (e *evaluation) placed(verdict Verdict) Verdict {
	here, recorded := e.Archive.Store, e.Status.Archive.Store
	switch _, away := verdict.unavailable(); {
	case away, here == "", recorded == "", here == recorded:
	case e.goodArchive():
		e.out.Status.Archive.Store = here
	case e.Workspace.AcceptedLoss != e.Status.ArchiveKey:
		return Elsewhere
	}
	return verdict
}

// requireVerdict is verdict for an operation that needs one to continue. It reports true if the decision is made: to ask the
// store, or that the store is unavailable.
func (e *evaluation) requireVerdict(key string) (Verdict, bool) {
	verdict, known := e.verdict(key)
	if !known {
		return verdict, true
	}
	code, away := verdict.unavailable()
	return verdict, away && e.fail(Unreachable, code)
}

// unavailable reports whether the verdict says nothing about the archive, and the code for the reason (D23).
func (v Verdict) unavailable() (Code, bool) {
	switch v {
	case StoreUnreachable:
		return CodeStoreUnreachable, true
	case BucketMissing:
		return CodeBucketMissing, true
	case Elsewhere:
		return CodeArchiveElsewhere, true
	default:
		return "", false
	}
}
