package message

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Facts are what is told about: one decision, and what it rests on.
type Facts struct {
	// Workspace as it was read, with the status before the decision.
	Workspace *v1alpha1.Workspace
	Decision  lifecycle.Decision
	Observed  lifecycle.Observation
	Limits    Limits
	// Running are the workspaces of the same owner that run, in any order.
	Running []types.NamespacedName
	Detail  Detail
	// Store is where the Secret of the store leads now, as far as that was looked for.
	Store string
	// Outdated: the Pod was made of an earlier spec.
	Outdated bool
}

// Limits are how many may run of one owner and in all, and how many movers.
type Limits struct{ Owner, All, Movers int }

// Detail is what others said when something failed; the zero value if nothing did.
type Detail struct {
	// Text is in their own words: the API server's or the store's error, the mover's message, or the last
	// lines of what a container wrote.
	Text string
	// Code is the mover's, such as DISK_FULL.
	Code string
	// ExitCode is a container's, nil if there was none. StatusCode is HTTP's, 0 if there was none.
	ExitCode   *int32
	StatusCode int
}

// Status returns the whole status to write, with the conditions as of now.
func (f Facts) Status(now time.Time) v1alpha1.WorkspaceStatus {
	status := statusconv.Write(f.Workspace, f.Decision.Status, f.Observed)
	status.Error = f.Error()
	status.Conditions = f.Conditions(now)
	return status
}

// Conditions returns the six conditions, with those of others after them. A condition's
// lastTransitionTime becomes now if its status differs from the one before.
func (f Facts) Conditions(now time.Time) []metav1.Condition {
	decided := f.Decision.Conditions
	conditions := append([]metav1.Condition{}, f.Workspace.Status.Conditions...)
	for _, each := range []struct {
		kind      string
		condition lifecycle.Condition
		message   string
	}{
		{v1alpha1.ConditionReady, decided.Ready, f.about(decided.Ready.Reason)},
		{v1alpha1.ConditionVolumeReady, decided.VolumeReady, f.fill(aspects[decided.VolumeReady.Reason])},
		{v1alpha1.ConditionPodReady, decided.PodReady, f.ofPod(decided.PodReady.Reason)},
		{v1alpha1.ConditionArchiveReady, decided.ArchiveReady, f.fill(aspects[decided.ArchiveReady.Reason])},
		{v1alpha1.ConditionProgressing, decided.Progressing, f.sentence(decided.Progressing.Reason)},
		{v1alpha1.ConditionStalled, decided.Stalled, f.stalled(decided.Stalled)},
	} {
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: each.kind, Status: metav1.ConditionStatus(each.condition.Status), Reason: reason(each.condition.Reason), Message: each.message,
			ObservedGeneration: f.Workspace.Generation, LastTransitionTime: *statusconv.Time(now),
		})
	}
	return conditions
}

// ofPod is the message of PodReady.
func (f Facts) ofPod(word lifecycle.Code) string {
	if f.Outdated && (word == lifecycle.CodePodReady || word == lifecycle.CodePodNotReady) {
		return f.join(f.fill(aspects[word]), outdated)
	}
	return f.fill(aspects[word])
}

// reason returns a word as the reason of a condition, which must not be empty.
func reason(word lifecycle.Code) string {
	if word == "" {
		return string(lifecycle.CodeWorking)
	}
	return string(word)
}

// about is the message of Ready: what went wrong, as long as that is what holds it up.
func (f Facts) about(word lifecycle.Code) string {
	if failure := f.Decision.Status.Error; f.failedNow() || f.Decision.Status.Phase == lifecycle.Failed && word == failure.Code {
		return f.Error().Message
	}
	return f.sentence(word)
}

func (f Facts) stalled(condition lifecycle.Condition) string {
	if condition.Status == lifecycle.False {
		return "Nothing stands in the way."
	}
	return f.about(condition.Reason)
}

// before is what was remembered before the decision.
func (f Facts) before() lifecycle.Status { return statusconv.Read(f.Workspace) }

// failedNow reports whether the decision is that something went wrong, or that there is no further attempt at
// it: what is to be done is another thing then, though both may be decided in the same second.
func (f Facts) failedNow() bool {
	failure, before, after := f.Decision.Status.Error, f.before(), f.Decision.Status.Phase
	return failure != (lifecycle.Failure{}) && (failure != before.Error || after == lifecycle.Failed && before.Phase != lifecycle.Failed)
}

// dying reports whether somebody deletes the home, who is not Kyklos.
func (f Facts) dying() bool {
	home, status := f.Decision.Status.Volume, f.Decision.Status
	return home.UID != "" && home.UID == f.Observed.Volume.UID && (home.Content == lifecycle.Empty || home.Content == lifecycle.Restored) &&
		f.Observed.Volume.State == lifecycle.VolumeTerminating && status.Operation.Type != lifecycle.Removing
}

// textOf returns what is to be said for a word.
func (f Facts) textOf(word lifecycle.Code) text {
	switch status := f.Decision.Status; {
	case word == lifecycle.CodeVolumeTerminating && f.dying():
		return dying
	case word == lifecycle.CodeAdopted && status.Volume.UID == "" && status.ArchiveKey != "":
		return adopted
	default:
		return texts[word]
	}
}

// sentence says what happens now, why, and what the user can do.
func (f Facts) sentence(word lifecycle.Code) string {
	return f.join(f.textOf(word).now, f.textOf(word).do)
}
