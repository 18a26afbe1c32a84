package message

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Facts are what the messages are about: one decision and what it is based on.
type Facts struct {
	// Workspace as it was read, with the status before the decision.
	Workspace *v1alpha1.Workspace
	Decision  lifecycle.Decision
	Observed  lifecycle.Observation
	// Watcher is what tells whether the workspace is used, and Watches by what.
	Watcher lifecycle.Watcher
	Watches objects.Watches
	Limits  Limits
	// Running are the running workspaces of the same owner in the namespace, in any order.
	Running []string
	Detail  Detail
	// Cause is why the store did not answer, if it was asked in this pass and that is no failure of an attempt, whose Detail says it.
	Cause string
	// Newest is the answer to a search in the store in this pass.
	Newest lifecycle.ArchiveView
	// Store is the address that the Secret of the store led to in this pass, if it was checked.
	Store string
	// Outdated: the Pod was created from an earlier spec.
	Outdated bool
	Service  Service
	// Served is Workspace with the ports to which its Service leads; nil if they are those of the spec.
	Served *v1alpha1.Workspace
}

// Limits are the maximum numbers of running workspaces per owner, per namespace and in all, and of movers, of which some are
// kept for restores.
type Limits struct{ Owner, Namespace, All, Movers, Kept int }

// Detail is what a failed component reported; the zero value if nothing failed.
type Detail struct {
	// Text is the error of the API server or the store, the mover's message, or the last output of a container.
	Text string
	// Code is the mover's result code, such as DISK_FULL.
	Code string
	// ExitCode is a container's, nil if there was none. StatusCode is HTTP's, 0 if there was none.
	ExitCode   *int32
	StatusCode int
}

// Status returns the complete status to write, with the conditions as of now.
func (f Facts) Status(now time.Time) v1alpha1.WorkspaceStatus {
	status := statusconv.Write(f.Workspace, f.Decision.Status, f.Observed)
	status.Error = f.Error()
	status.Conditions = f.Conditions(now)
	f.setUse(&status, now)
	f.setService(&status, now)
	return status
}

// Conditions returns the six conditions about the state, and those that others have set.
func (f Facts) Conditions(now time.Time) []metav1.Condition {
	c, v := f.Decision.Conditions, f.fields()
	pod := fill(aspects[c.PodReady.Reason], v)
	if f.Outdated && (c.PodReady.Reason == lifecycle.CodePodReady || c.PodReady.Reason == lifecycle.CodePodNotReady) {
		pod = join(pod, outdated)
	}
	stalled := "Nothing blocks the workspace."
	if c.Stalled.Status != lifecycle.False {
		stalled = f.summary(c.Stalled.Reason, v)
	}
	conditions := append([]metav1.Condition{}, f.Workspace.Status.Conditions...)
	for _, each := range []struct {
		kind      string
		condition lifecycle.Condition
		message   string
	}{
		{v1alpha1.ConditionReady, c.Ready, f.summary(c.Ready.Reason, v)},
		{v1alpha1.ConditionVolumeReady, c.VolumeReady, fill(aspects[c.VolumeReady.Reason], v)},
		{v1alpha1.ConditionPodReady, c.PodReady, pod},
		{v1alpha1.ConditionArchiveReady, c.ArchiveReady, fill(aspects[c.ArchiveReady.Reason], v)},
		{v1alpha1.ConditionProgressing, c.Progressing, f.sentence(c.Progressing.Reason, v)},
		{v1alpha1.ConditionStalled, c.Stalled, stalled},
	} {
		if each.condition.Reason == "" { // which a condition must not have
			each.condition.Reason = lifecycle.CodeWorking
		}
		next := metav1.Condition{
			Type: each.kind, Status: metav1.ConditionStatus(each.condition.Status), Reason: string(each.condition.Reason), Message: each.message,
			ObservedGeneration: f.Workspace.Generation, LastTransitionTime: *statusconv.Time(now),
		}
		next.Message = f.steady(next)
		meta.SetStatusCondition(&conditions, next)
	}
	return conditions
}

// summary is the message of Ready and Stalled: the failure, if the code is about it.
func (f Facts) summary(code lifecycle.Code, v fields) string {
	failure := f.Decision.Status.Error
	status := f.Decision.Status
	switch failed := code == failure.Code && (status.Phase == lifecycle.Failed || f.held() || status.Operation.Failing() && status.Operation.Type == failure.Operation); {
	case failed && failure == (lifecycle.Failure{}): // somebody else wrote the status
		return join(fill(f.textOf(code).now, v), fill(f.next(), v))
	case failed || f.failedNow():
		return f.Error().Message
	}
	return f.sentence(code, v)
}

// before is the status before the decision.
func (f Facts) before() lifecycle.Status { return statusconv.Read(f.Workspace) }

// failedNow reports whether the decision is a new failure, or that no attempt is left. The second changes what the user can
// do, even if both are decided in the same second.
func (f Facts) failedNow() bool {
	failure, before, after := f.Decision.Status.Error, f.before(), f.Decision.Status.Phase
	return failure != (lifecycle.Failure{}) && (failure != before.Error || after == lifecycle.Failed && before.Phase != lifecycle.Failed)
}

// homeTerminating reports whether the home is being deleted, and not by Kyklos.
func (f Facts) homeTerminating() bool {
	home, status := f.Decision.Status.Volume, f.Decision.Status
	return home.UID != "" && home.UID == f.Observed.Volume.UID && home.Content.IsHome() &&
		f.Observed.Volume.State == lifecycle.VolumeTerminating && status.Operation.Type != lifecycle.Removing
}

// textOf returns the text for a code.
func (f Facts) textOf(code lifecycle.Code) text {
	switch status := f.Decision.Status; {
	case code == lifecycle.CodeVolumeTerminating && f.homeTerminating():
		return homeTerminating
	case code == lifecycle.CodeAdopted && status.Volume.UID == "" && status.ArchiveKey != "":
		return archiveAdopted
	case code == "" && status.Phase == lifecycle.Failed:
		return text{now: "The state is ERROR, and its cause is not recorded."}
	default:
		return texts[code]
	}
}

// sentence is the complete message for a code.
func (f Facts) sentence(code lifecycle.Code, v fields) string {
	text := f.textOf(code)
	return join(fill(text.now, v), fill(text.do, v))
}
