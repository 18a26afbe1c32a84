package lifecycle

import "time"

// MoverGrace is how long an attempt holds a mover's slot without a Pod that has started, and how long a Job may have no Pod
// before Kyklos asks why.
const MoverGrace = time.Minute

// HoldsMover reports whether an operation takes one of the movers' slots: from its attempt's begin for MoverGrace, and while its
// Pod has started. One that waits for its next attempt, or only deletes the archived volume, takes none (W56).
func (o Operation) HoldsMover(now time.Time, started bool) bool {
	switch {
	case !TraitOf(o.Type).Job, o.PointOfNoReturn, o.Failed != "", o.waitsForMover():
		return false
	case now.Sub(o.AttemptStartedAt).Abs() <= MoverGrace: // the clock may have been set
		return true
	default:
		return o.JobName != "" && started
	}
}

// Failing reports whether an attempt has failed.
func (o Operation) Failing() bool { return o.Type != None && o.Failures.total() > 0 }

// waitsForMover reports whether the attempt has not begun: it waits until it may, and then for a slot.
func (o Operation) waitsForMover() bool {
	return TraitOf(o.Type).Job && !o.PointOfNoReturn && o.Failed == "" && o.JobName == "" && !o.NextRetryAt.IsZero()
}

// WantsMover returns the operation for which a Workspace needs a slot next, if it may; None if it needs none.
func WantsMover(w Workspace, s Status, now time.Time) OperationType {
	desired := w.Desired
	if w.Deleting {
		desired = Pending
	}
	switch o := s.Operation; {
	case o.Type == None || o.Type == "":
		if next := Next(s.Phase, desired, s.archived()); TraitOf(next).Job {
			return next
		}
	case TraitOf(o.Type).Job && o.JobName == "" && !o.PointOfNoReturn && !o.HoldsMover(now, false):
		return o.Type
	}
	return None
}

// takeMover begins an attempt, with a slot. Its time limit begins too (D10).
func (e *evaluation) takeMover() bool {
	if e.Limits.MoversFull {
		return e.wait(CodeMoversFull, e.Now.Add(retryPace))
	}
	e.out.Status.Operation.NextRetryAt, e.out.Status.Operation.AttemptStartedAt = time.Time{}, e.Now
	e.out.Code = e.unlessAway(CodeWorking)
	return true
}

// runJob creates the Job of this attempt. Its name is recorded first. An attempt that prepared for longer than MoverGrace, such
// as one that waited for another Pod, needs a slot again.
func (e *evaluation) runJob(key string) bool {
	operation, next := e.Status.Operation, &e.out.Status.Operation
	name := JobName(e.Workspace.Name, operation.ID, operation.Attempt)
	switch holds := operation.HoldsMover(e.Now, false); {
	case operation.JobName == name:
		return e.act(CodeWorking, e.moverAction(ActCreateJob, name, key))
	case !holds && e.Limits.MoversFull:
		next.NextRetryAt, next.JobName = e.Now, ""
		e.out.Code = CodeMoversFull
		return true
	case !holds:
		next.AttemptStartedAt = e.Now
	}
	next.JobName = name
	e.out.Code = e.unlessAway(CodeWorking)
	return true
}

func (e *evaluation) moverAction(kind ActionKind, name, key string) Action {
	operation, action := e.Status.Operation, Action{
		Kind: kind, Name: name, UID: e.Observed.Volume.UID, OperationID: e.Status.Operation.ID, Attempt: e.Status.Operation.Attempt,
		Key: key, Epoch: e.Status.Volume.Epoch,
	}
	if operation.Type == Archiving {
		action.RestoredFrom = e.Status.Volume.RestoredFrom
	}
	return action
}

// awaitMover waits for a mover that runs. If its Job gets no Pod, the API server is asked whether it refuses the Pod: a refusal
// is this attempt's failure (W57).
func (e *evaluation) awaitMover(job Job, key string) bool {
	since := job.PodlessSince
	if since.IsZero() {
		return e.wait(CodeWorking, time.Time{})
	}
	if begun := e.Status.Operation.AttemptStartedAt; begun.After(since) {
		since = begun
	}
	if due := since.Add(MoverGrace); e.Now.Before(due) {
		return e.wait(CodeWorking, due)
	}
	if !e.MoverAccepted {
		return e.act(CodeWorking, e.moverAction(ActTryMover, job.Name, key))
	}
	return e.wait(CodeWorking, time.Time{})
}
