package statusconv

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Write returns the status of ws with the recorded and the observed state. The rest stays unchanged: the conditions, the last
// activity, the progress of the same attempt, and the message about the same error.
func Write(ws *v1alpha1.Workspace, status lifecycle.Status, seen lifecycle.Observation) v1alpha1.WorkspaceStatus {
	out := *ws.Status.DeepCopy()
	out.ObservedGeneration = status.ObservedGeneration
	out.Phase, out.DisplayState = v1alpha1.Phase(status.Phase), string(Display(status))
	out.Operation = operation(status.Operation, ws.Status.Operation)
	out.ArchiveKey, out.Archive = status.ArchiveKey, archive(status.Archive)
	out.Volume = volume(ws.Name, status.Volume)
	out.RunningSince, out.StandbySince = Time(status.RunningSince), Time(status.StandbySince)
	out.Error = failure(status.Error, ws.Status.Error)
	out.RetryToken, out.Restarts, out.NextStartAt = status.RetryToken, status.Restarts, Time(status.NextStartAt)
	if !seen.Failed {
		out.PodName = ""
		if seen.Pod.State != lifecycle.PodAbsent && !seen.Pod.Foreign {
			out.PodName = objects.PodName(ws.Name)
		}
	}
	return out
}

// Display returns the state as shown to people: PENDING with an archive is ARCHIVED (W14).
func Display(status lifecycle.Status) lifecycle.State {
	if status.Phase == lifecycle.Pending && status.ArchiveKey != "" {
		return lifecycle.Archived
	}
	return status.Phase
}

func operation(o lifecycle.Operation, before *v1alpha1.Operation) *v1alpha1.Operation {
	if o == (lifecycle.Operation{}) {
		return nil
	}
	out := &v1alpha1.Operation{
		Type: v1alpha1.OperationType(o.Type), ID: o.ID, StartedAt: Time(o.StartedAt), Attempt: o.Attempt,
		AttemptStartedAt: Time(o.AttemptStartedAt), Failures: v1alpha1.FailureCounts(o.Failures), NextRetryAt: Time(o.NextRetryAt),
		JobName: o.JobName, PointOfNoReturn: o.PointOfNoReturn, Failed: v1alpha1.FailureReason(o.Failed),
	}
	if before != nil && before.ID == out.ID && before.Attempt == out.Attempt {
		out.Progress, out.ProgressPercent = before.Progress, before.ProgressPercent
	}
	return out
}

func archive(a lifecycle.Archive) *v1alpha1.ArchiveStatus {
	if a == (lifecycle.Archive{}) {
		return nil
	}
	out := &v1alpha1.ArchiveStatus{Store: a.Store, SizeBytes: a.Size, CompletedAt: Time(a.CompletedAt), VolumeUID: a.VolumeUID, Epoch: a.Epoch, LeftOut: a.LeftOut}
	if a.SHA256 != "" {
		out.SHA256 = sumPrefix + a.SHA256
	}
	return out
}

func volume(workspace string, v lifecycle.Volume) *v1alpha1.VolumeStatus {
	if v == (lifecycle.Volume{}) {
		return nil
	}
	return &v1alpha1.VolumeStatus{
		Name: objects.VolumeName(workspace), UID: v.UID, Content: v1alpha1.VolumeContent(v.Content), RestoredFrom: v.RestoredFrom, Epoch: v.Epoch,
	}
}

// failure keeps the message about an error as long as it is the same.
func failure(f lifecycle.Failure, before *v1alpha1.ErrorInfo) *v1alpha1.ErrorInfo {
	if f == (lifecycle.Failure{}) {
		return nil
	}
	out := &v1alpha1.ErrorInfo{
		Reason: v1alpha1.FailureReason(f.Reason), Operation: v1alpha1.OperationType(f.Operation), Code: string(f.Code), OccurredAt: Time(f.OccurredAt),
	}
	if before != nil && before.Reason == out.Reason && before.Code == out.Code {
		out.Message, out.Context = before.Message, before.Context
	}
	return out
}

// Time returns t as the API stores it: nil for the zero time, UTC, whole seconds.
func Time(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stored := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &stored
}
