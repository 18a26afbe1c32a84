package statusconv

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// sumPrefix stands before a sum in the API, as in the marker of an archive.
const sumPrefix = "sha256:"

// What the engine knows.
var (
	states = []lifecycle.State{
		lifecycle.Pending, lifecycle.Standby, lifecycle.Running, lifecycle.Failed, lifecycle.Deleting,
	}
	operations = []lifecycle.OperationType{
		lifecycle.None, lifecycle.Provisioning, lifecycle.Restoring, lifecycle.Starting, lifecycle.Stopping, lifecycle.Archiving, lifecycle.Removing,
	}
	contents = []lifecycle.Content{lifecycle.Uninitialized, lifecycle.Empty, lifecycle.Restored}
	reasons  = []lifecycle.Reason{
		lifecycle.Mismatch, lifecycle.Unreachable, lifecycle.ActionFailed, lifecycle.Timeout, lifecycle.DataLost,
	}
)

// Read returns what the engine remembers of a Workspace. A value that it does not know, of a status that
// somebody has edited, counts as none; Unknown names them.
func Read(ws *v1alpha1.Workspace) lifecycle.Status {
	s := &ws.Status
	status := lifecycle.Status{
		ObservedGeneration: s.ObservedGeneration,
		Phase:              known(states, s.Phase),
		PreviousPhase:      known(states, s.PreviousPhase),
		Operation:          claim(s.Operation),
		ArchiveKey:         s.ArchiveKey,
		RunningSince:       moment(s.RunningSince),
		StandbySince:       moment(s.StandbySince),
		RetryToken:         s.RetryToken,
		Restarts:           s.Restarts,
		NextStartAt:        moment(s.NextStartAt),
	}
	if a := s.Archive; a != nil {
		status.Archive = lifecycle.Archive{
			SHA256: strings.TrimPrefix(a.SHA256, sumPrefix), Size: a.SizeBytes, VolumeUID: a.VolumeUID, Epoch: a.Epoch, CompletedAt: moment(a.CompletedAt),
			Store: a.Store,
		}
	}
	if v := s.Volume; v != nil {
		status.Volume = lifecycle.Volume{UID: v.UID, Content: known(contents, v.Content), RestoredFrom: v.RestoredFrom, Epoch: v.Epoch}
	}
	if e := s.Error; e != nil {
		status.Error = lifecycle.Failure{
			Reason: known(reasons, e.Reason), Operation: known(operations, e.Operation), Code: lifecycle.Code(e.Code), OccurredAt: moment(e.OccurredAt),
		}
	}
	return status
}

// claim reads the operation. Of one that is unknown nothing is left: it is nobody's claim.
func claim(o *v1alpha1.Operation) lifecycle.Operation {
	if o == nil || known(operations, o.Type) == "" {
		return lifecycle.Operation{}
	}
	return lifecycle.Operation{
		Type: known(operations, o.Type), ID: o.ID, StartedAt: moment(o.StartedAt), Attempt: o.Attempt, AttemptStartedAt: moment(o.AttemptStartedAt),
		Failures: lifecycle.Failures(o.Failures), NextRetryAt: moment(o.NextRetryAt), JobName: o.JobName, PointOfNoReturn: o.PointOfNoReturn,
		Failed: known(reasons, o.Failed),
	}
}

// Unknown names the values of a status that Read takes for none, in the order of the fields.
func Unknown(s *v1alpha1.WorkspaceStatus) []string {
	var strange []string
	look := func(field, value string, is bool) {
		if value != "" && !is {
			strange = append(strange, fmt.Sprintf("status.%s: %q", field, value))
		}
	}
	look("phase", string(s.Phase), known(states, s.Phase) != "")
	look("previousStatus", string(s.PreviousPhase), known(states, s.PreviousPhase) != "")
	if o := s.Operation; o != nil {
		look("operation.type", string(o.Type), known(operations, o.Type) != "")
		look("operation.failed", string(o.Failed), known(reasons, o.Failed) != "")
	}
	if v := s.Volume; v != nil {
		look("volume.content", string(v.Content), known(contents, v.Content) != "")
	}
	if e := s.Error; e != nil {
		look("error.reason", string(e.Reason), known(reasons, e.Reason) != "")
		look("error.operation", string(e.Operation), known(operations, e.Operation) != "")
	}
	return strange
}

// known returns a value as the engine's own, or "" if it is none of them.
func known[To, From ~string](all []To, value From) To {
	if !slices.Contains(all, To(value)) {
		return ""
	}
	return To(value)
}

// moment returns t in UTC, so that equal times are equal with ==; the zero time for none.
func moment(t *metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
