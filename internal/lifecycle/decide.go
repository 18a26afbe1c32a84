package lifecycle

import "time"

// Rule is one row of the decision table. The first that decides is the decision.
type Rule struct {
	Name string
	// Guard and Result say in words when it decides, and what.
	Guard, Result string
	decide        func(*look) bool
}

// Rules returns the decision table in its order.
func Rules() []Rule { return rules }

// Cancel stands before Failed and Overdue: who does not want the archive any more has no use for its
// errors either.
var rules = []Rule{
	{"Unseen", "the Pod, the volume or a Job could not be read", "keep the status, look again soon (W45)", (*look).unseen},
	{"Recall", "there is no volume and no recorded archive, and the status was lost or hints at an archive", "look for one in the store and record it; hold back while the store does not answer", (*look).forgotten},
	{"Protect", "the finalizer is missing, and no deletion is asked for", "add the finalizer", (*look).protect},
	{"Delete", "deletion is asked for, and the home need not be archived first", "end the Jobs, then claim DELETING (D13)", (*look).remove},
	{"Deleting", "DELETING is claimed", "delete Pod, Jobs and volume, then the finalizer; never give up", (*look).deleting},
	{"Pause", "pause is set", "report only", (*look).pause},
	{"Stalled", "the state is ERROR", "hold, unless the spec has changed, a retry is asked for, a loss is accepted, or the cause was Unreachable and a while has passed (D8)", (*look).stalled},
	{"Complete", "an operation is claimed and seen to be complete", "end it (W13)", (*look).complete},
	{"Cancel", "ARCHIVING before its point of no return, and PENDING is not desired any more", "end the Job, then the operation (D12)", (*look).cancel},
	{"Failed", "no attempt is left", "end what it started, then ERROR (W44)", (*look).failed},
	{"Attempt", "the attempt has failed", "wait, then try again; without attempts left, fail (W43)", (*look).attempt},
	{"Overdue", "the attempt takes longer than it may, and its work is not done", "try again; without attempts left, fail (W49, D10)", (*look).overdue},
	{"Execute", "an operation is claimed", "do its next step (W30)", (*look).execute},
	{"Lost", "the recorded home is gone, replaced or lost", "ERROR with DataLost, unless the loss is accepted (D6)", (*look).lost},
	{"Strays", "no operation is claimed, and there is a Job", "delete it", (*look).strays},
	{"Adopt", "a volume of ours with a marker is not recorded", "record it; Mismatch if there is an archive as well", (*look).adopt},
	{"Observe", "the state is not what is seen", "write it (W31)", (*look).observe},
	{"Hold", "the home's volume is being deleted, and only the Pod still keeps it", "leave the Pod alone", (*look).hold},
	{"Stop", "a Pod of ours exists in any phase, and is not desired or has no home", "claim STOPPING (D3)", (*look).stop},
	{"Waste", "a volume of ours is no home", "delete it", (*look).waste},
	{"Converged", "the state is the desired one", "nothing (W33)", (*look).converged},
	{"Claim", "the state is another than the desired one", "claim the operation of the table (W16-W18)", (*look).claimNext},
}

// look is one decision in the making.
type look struct {
	Input
	out Decision
	// given is the status as it was read.
	given Status
	// slow: a deletion takes longer than it may.
	slow bool
	// searched: the answer to FindArchive decided.
	searched bool
}

// Decide decides what is to be done now.
func Decide(in Input) Decision {
	l := &look{Input: in, given: in.Status, out: Decision{Status: in.Status, LookAt: in.Now.Add(Poll)}}
	if l.Status.Phase == "" {
		l.out.Status.Phase = Pending
		l.Status.Phase = Pending
	}
	if l.Status.Operation.Type == "" {
		l.out.Status.Operation.Type = None
		l.Status.Operation.Type = None
	}
	l.out.Status.ObservedGeneration = in.Workspace.Generation
	for _, rule := range rules {
		if rule.decide(l) {
			l.out.Rule = rule.Name
			break
		}
	}
	l.confirm(in.Status)
	l.out.Conditions = l.conditions()
	return l.out
}

// confirm sees to it that nothing is done before it is persisted, and nothing is written or done on
// the word of a cache.
func (l *look) confirm(before Status) {
	if l.Seen.Failed {
		l.out.Status = before
		return
	}
	if l.out.Act.Kind == ActFindArchive {
		l.out.Status = before // nothing is written before the answer
	}
	if l.out.Status != before {
		l.out.Act = Action{}
		l.out.LookAt = l.Now
	}
	if l.out.Status == before && l.out.Act.Kind == ActNone {
		return
	}
	var unread ActionKind
	switch {
	case !l.Seen.Live:
		unread = ActLook
	case !l.Seen.PodsLive && l.needsPods():
		unread = ActLookPods
	default:
		return
	}
	l.out.Status, l.out.LookAt = before, l.Now
	l.out.Act = Action{Kind: unread}
}

// needsPods reports whether the decision is about a volume that somebody could still write on.
func (l *look) needsPods() bool {
	return l.op() == Archiving || l.out.Act.Kind == ActDeleteVolume || l.out.Act.Kind == ActCreateJob
}

// op returns the claimed operation.
func (l *look) op() Operation { return l.Status.Operation.Type }

// desired returns the state to go to: on the way to deletion, the archive.
func (l *look) desired() State {
	if l.Workspace.Deleting {
		return Pending
	}
	return l.Workspace.Desired
}

// home reports whether the volume that is seen is the recorded home.
func (l *look) home() bool {
	record := l.Status.Volume
	return l.Seen.Volume.own() && l.Seen.Volume.State != VolumeLost && l.Seen.Volume.UID == record.UID && record.holds()
}

// homeLost reports whether a home is recorded that is not there any more.
func (l *look) homeLost() bool { return l.Status.Volume.holds() && !l.home() }

// holds reports whether v is the record of a home.
func (v Volume) holds() bool {
	return v.UID != "" && (v.Content == Empty || v.Content == Restored)
}

// state returns the level that is seen (W14, D3). A Pod that is not ready for a while runs all the same.
func (l *look) state() State {
	switch pod := l.Seen.Pod; {
	case !l.home():
		return Pending
	case !pod.own():
		return Standby
	case pod.State == PodReady, pod.State == PodNotReady && l.Status.Phase == Running:
		return Running
	default:
		return Standby
	}
}

// archived reports whether there is an archive to restore from.
func (s Status) archived() bool { return s.ArchiveKey != "" }

// before reports whether a time is still to come that was set some minutes ahead. If it is further away than
// any of them is set, the clock was set back since, and nobody waits for it.
func (l *look) before(at time.Time) bool {
	return l.Now.Before(at) && at.Sub(l.Now) <= max(retryCap, restartCap, Probe)
}

// act asks for an action, and says why.
func (l *look) act(word Word, action Action) bool {
	l.out.Word, l.out.Act = word, action
	return true
}

// wait asks for nothing but another look, at the latest at the given time.
func (l *look) wait(word Word, until time.Time) bool {
	l.out.Word = word
	if !until.IsZero() && until.Before(l.out.LookAt) {
		l.out.LookAt = until
	}
	return true
}
