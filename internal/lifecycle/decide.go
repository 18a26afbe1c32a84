package lifecycle

import "time"

// Rule is one row of the decision table. The first rule that applies decides.
type Rule struct {
	Name string
	// Guard and Result describe when the rule applies and what it decides.
	Guard, Result string
	decide        func(*evaluation) bool
}

// Rules returns the decision table in order.
func Rules() []Rule { return rules }

// Cancel precedes Failed and Overdue: once the archive is not wanted, errors about it do not matter.
var rules = []Rule{
	{"Unread", "the Pod, the volume or a Job could not be read", "keep the status, retry soon (W45)", (*evaluation).unread},
	{"Recall", "no volume and no recorded archive, and there is no status, it hints at an archive, or spec.restoreFrom names one", "find the archive in the store and record it; change nothing while the store does not answer, or the named one is not there", (*evaluation).recall},
	{"Protect", "the finalizer is missing, and the Workspace is not being deleted", "add the finalizer", (*evaluation).protect},
	{"Delete", "the Workspace is being deleted, and the home need not be archived first", "end the Jobs, then begin DELETING (D13)", (*evaluation).remove},
	{"Deleting", "the operation is DELETING", "delete Pod, Jobs and volume, then the finalizer; never give up", (*evaluation).deleting},
	{"Pause", "spec.pause is set", "report only", (*evaluation).pause},
	{"Stalled", "the state is ERROR", "hold, unless the spec changed, a retry was requested, a loss was accepted, or the failure needs no person or is an archive elsewhere, and the probe is due (D8)", (*evaluation).stalled},
	{"Complete", "the operation is observed to be complete", "finish it (W13)", (*evaluation).complete},
	{"Cancel", "ARCHIVING before its point of no return, and PENDING is no longer desired; or an operation that leads up has failed, and its state is no longer desired", "end the Job and the Pod, then the operation (D12, W72)", (*evaluation).cancel},
	{"Failed", "no attempt is left", "remove what the operation created, then ERROR (W44)", (*evaluation).failed},
	{"Attempt", "the attempt failed", "schedule a retry; without attempts left, fail (W43, W71)", (*evaluation).attempt},
	{"Overdue", "the attempt exceeded its time limit, and its work is not done", "retry; without attempts left, fail (W49, D10)", (*evaluation).overdue},
	{"Execute", "an operation is in progress", "do its next step (W30)", (*evaluation).execute},
	{"Lost", "the recorded home is gone, replaced or lost", "ERROR with DataLost, unless the loss is accepted or another volume was chosen (D6)", (*evaluation).lost},
	{"Strays", "no operation is in progress, and there is a Job", "delete it", (*evaluation).strays},
	{"Inherit", "no home is recorded, and a deleted Workspace of this name left its volume behind", "make it this Workspace's (W67)", (*evaluation).inherit},
	{"Adopt", "the volume is not recorded, and a person chose it, or it is the Workspace's own and has a marker", "make it the Workspace's own, and record it; Mismatch if there is an archive as well, and nobody chose", (*evaluation).adopt},
	{"Observe", "the recorded state differs from the observed one", "write the observed state (W31)", (*evaluation).observe},
	{"Hold", "the home's volume is being deleted, and only the Pod still keeps it", "leave the Pod alone", (*evaluation).hold},
	{"Stop", "the Workspace's Pod exists in any phase, and is not desired or has no home", "begin STOPPING (D3)", (*evaluation).stop},
	{"Waste", "the Workspace's volume is not a home", "delete it", (*evaluation).waste},
	{"Converged", "the state is the desired one", "nothing (W33)", (*evaluation).converged},
	{"Begin", "the state is not the desired one", "begin the operation of the table (W16-W18)", (*evaluation).startNext},
}

// evaluation is the working state of one call of Decide.
type evaluation struct {
	Input
	out Decision
	// given is the status as it was read.
	given Status
	// slow: a deletion exceeds its time limit.
	slow bool
	// searched: the answer to FindArchive decided.
	searched bool
	// held: a deletion waits for an archive that is lost, or for a person.
	held bool
}

// Decide returns the next step for a Workspace.
func Decide(in Input) Decision {
	e := &evaluation{Input: in, given: in.Status, out: Decision{Status: in.Status, RequeueAt: in.Now.Add(Poll)}}
	if e.Status.Phase == "" {
		e.out.Status.Phase = Pending
		e.Status.Phase = Pending
	}
	if e.Status.Operation.Type == "" {
		e.out.Status.Operation.Type = None
		e.Status.Operation.Type = None
	}
	e.out.Status.ObservedGeneration = in.Workspace.Generation
	for _, rule := range rules {
		if rule.decide(e) {
			e.out.Rule = rule.Name
			break
		}
	}
	e.confirm()
	e.out.Conditions = e.conditions()
	return e.out
}

// confirm makes sure that nothing is done before it is persisted, and that nothing is written or done on the basis of a
// cache.
func (e *evaluation) confirm() {
	if e.Observed.Failed || e.out.Act.Kind == ActFindArchive { // nothing is written before the answer
		e.out.Status = e.given
	}
	if e.Observed.Failed {
		return
	}
	if e.out.Status != e.given {
		e.out.Act = Action{}
		e.out.RequeueAt = e.Now
	}
	if e.out.Status == e.given && e.out.Act.Kind == ActNone {
		return
	}
	var missing ActionKind
	switch {
	case !e.Observed.Live:
		missing = ActReadLive
	case !e.Observed.PodsLive && e.needsPods():
		missing = ActReadPods
	default:
		return
	}
	e.out.Status, e.out.RequeueAt = e.given, e.Now
	e.out.Act = Action{Kind: missing}
}

// needsPods reports whether the decision affects a volume that another Pod could still write to.
func (e *evaluation) needsPods() bool {
	return e.op() == Archiving || e.out.Act.Kind == ActDeleteVolume || e.out.Act.Kind == ActCreateJob
}

// op returns the type of the operation in progress.
func (e *evaluation) op() OperationType { return e.Status.Operation.Type }

// desired returns the target state. During deletion it is the archive.
func (e *evaluation) desired() State {
	if e.Workspace.Deleting {
		return Pending
	}
	return e.Workspace.Desired
}

// home reports whether the observed volume is the recorded home.
func (e *evaluation) home() bool {
	record := e.Status.Volume
	return e.Observed.Volume.own() && e.Observed.Volume.State != VolumeLost && e.Observed.Volume.UID == record.UID && record.holds()
}

// homeLost reports whether a home is recorded that does not exist any more.
func (e *evaluation) homeLost() bool { return e.Status.Volume.holds() && !e.home() }

// holds reports whether v records a home.
func (v Volume) holds() bool {
	return v.UID != "" && (v.Content == Empty || v.Content == Restored)
}

// state returns the observed level (W14, D3). A Pod that is temporarily not ready still counts as running.
func (e *evaluation) state() State {
	switch pod := e.Observed.Pod; {
	case !e.home():
		return Pending
	case !pod.own():
		return Standby
	case pod.State == PodReady, pod.State == PodNotReady && e.Status.Phase == Running:
		return Running
	default:
		return Standby
	}
}

// archived reports whether there is an archive to restore from.
func (s Status) archived() bool { return s.ArchiveKey != "" }

// before reports whether at is in the future. A time further away than any that the engine sets means that the clock was
// set back; it does not count.
func (e *evaluation) before(at time.Time) bool {
	return e.Now.Before(at) && at.Sub(e.Now) <= max(retryCap, restartCap, Probe)
}

// act requests an action and gives the reason.
func (e *evaluation) act(code Code, action Action) bool {
	e.out.Code, e.out.Act = code, action
	return true
}

// wait requests only another pass, at the given time at the latest.
func (e *evaluation) wait(code Code, until time.Time) bool {
	e.out.Code = code
	if !until.IsZero() && until.Before(e.out.RequeueAt) {
		e.out.RequeueAt = until
	}
	return true
}
