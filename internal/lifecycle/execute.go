package lifecycle

import "time"

// execute does the next step of the claimed operation. Each step can be done any number of times (W5).
func (l *look) execute() bool {
	claim := l.Status.Operation
	if claim.Type == None {
		return false
	}
	if l.endStrays() {
		return true
	}
	if l.before(claim.NextRetryAt) {
		return l.wait(WordRetrying, claim.NextRetryAt)
	}
	switch claim.Type {
	case Provisioning:
		return l.provision()
	case Restoring:
		return l.restore()
	case Starting:
		return l.start()
	case Stopping:
		return l.endPod()
	default:
		return l.archive()
	}
}

// start makes the Pod. A Pod of another claim or attempt goes first; nothing starts on a volume that
// is being deleted (D17).
func (l *look) start() bool {
	claim, pod := l.Status.Operation, l.Seen.Pod
	switch {
	case !l.home() || !l.Seen.Volume.usable():
		return l.wait(WordVolumeTerminating, time.Time{})
	case !pod.own():
		return l.act(WordWorking, Action{
			Kind: ActCreatePod, UID: l.Status.Volume.UID, OperationID: claim.ID, Attempt: claim.Attempt, Epoch: l.Status.Volume.Epoch,
		})
	case pod.OperationID != claim.ID || pod.Attempt != claim.Attempt || pod.State == PodTerminating:
		return l.endPod()
	default:
		return l.wait(WordPodNotReady, time.Time{})
	}
}

// endPod deletes the Pod, with its grace, and waits until the object is gone. It reports false when it
// is.
func (l *look) endPod() bool {
	switch pod := l.Seen.Pod; {
	case !pod.own():
		return false
	case pod.State == PodTerminating:
		return l.wait(WordPodGone, time.Time{})
	case l.dying() && (l.op() != Removing || l.Workspace.DeletionPolicy == RetainHome):
		return l.wait(WordVolumeTerminating, time.Time{}) // only the Pod still keeps it
	default:
		return l.act(WordWorking, Action{Kind: ActDeletePod, UID: pod.UID})
	}
}

// job returns the Job of this attempt on this volume.
func (l *look) job() (Job, bool) {
	claim := l.Status.Operation
	for _, job := range l.Seen.Jobs {
		if job.OperationID == claim.ID && job.Attempt == claim.Attempt && job.VolumeUID == l.Seen.Volume.UID &&
			job.State != JobTerminating {
			return job, true
		}
	}
	return Job{}, false
}

// endStrays deletes Jobs of other claims, attempts and volumes, and waits until they and their Pods
// are gone.
func (l *look) endStrays() bool {
	own, found := l.job()
	for _, job := range l.Seen.Jobs {
		if !found || job.UID != own.UID {
			return l.endJob(job)
		}
	}
	return false
}

// endJobs deletes all Jobs, and waits until they and their Pods are gone. It reports false when they
// are.
func (l *look) endJobs() bool {
	for _, job := range l.Seen.Jobs {
		if job.State != JobTerminating {
			return l.endJob(job)
		}
	}
	return len(l.Seen.Jobs) > 0 && l.endJob(l.Seen.Jobs[0])
}

// endJob deletes one Job, or waits for it to go.
func (l *look) endJob(job Job) bool {
	if job.State == JobTerminating {
		return l.wait(WordJobEnding, l.Now.Add(restartPace))
	}
	return l.act(WordJobEnding, Action{Kind: ActDeleteJob, Name: job.Name, UID: job.UID})
}

// runJob makes the Job of this attempt; its name is recorded first.
func (l *look) runJob(key string) bool {
	claim := l.Status.Operation
	name := JobName(l.Workspace.Name, claim.ID, claim.Attempt)
	if claim.JobName != name {
		l.out.Status.Operation.JobName = name
		l.out.Word = WordWorking
		return true
	}
	return l.act(WordWorking, Action{
		Kind: ActCreateJob, Name: name, UID: l.Seen.Volume.UID, OperationID: claim.ID, Attempt: claim.Attempt,
		Key: key, Epoch: l.Status.Volume.Epoch,
	})
}

// verdict returns what is known of the archive at key. If nothing is, it asks for a look into the
// store, and reports false.
func (l *look) verdict(key string) (Verdict, bool) {
	switch {
	case l.Archive.Key != key || l.Archive.Verdict == Unknown:
		return Unknown, !l.act(WordWorking, Action{Kind: ActVerify, Key: key})
	case key == l.Status.ArchiveKey:
		return l.placed(l.Archive.Verdict), true
	default:
		return l.Archive.Verdict, true
	}
}

// placed holds a verdict on the recorded archive against the store that is recorded with it. Whoever names
// another store has lost nothing: what is not in there is elsewhere, unless a person says that it is lost. What is
// found there was moved, and is recorded as it was found. A record without a store is judged as if there were one alone.
func (l *look) placed(verdict Verdict) Verdict {
	here, recorded := l.Archive.Store, l.Status.Archive.Store
	switch _, away := verdict.storeAway(); {
	case away, here == "", recorded == "", here == recorded:
	case l.goodArchive():
		l.out.Status.Archive.Store = here
	case l.Workspace.AcceptedLoss != l.Status.ArchiveKey:
		return Elsewhere
	}
	return verdict
}

// judge is verdict for an operation that cannot go on without one: it reports true if that decided, for
// another look or because the store is away.
func (l *look) judge(key string) (Verdict, bool) {
	verdict, known := l.verdict(key)
	if !known {
		return verdict, true
	}
	word, away := verdict.storeAway()
	return verdict, away && l.fail(Unreachable, word)
}

// storeAway reports whether the verdict says nothing of the archive, and which word tells why (D23).
func (v Verdict) storeAway() (Word, bool) {
	switch v {
	case StoreUnreachable:
		return WordStoreUnreachable, true
	case BucketMissing:
		return WordBucketMissing, true
	case Elsewhere:
		return WordArchiveElsewhere, true
	default:
		return "", false
	}
}
