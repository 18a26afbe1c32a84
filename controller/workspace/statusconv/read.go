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

// sumPrefix precedes a checksum in the API, as in the marker of an archive.
const sumPrefix = "sha256:"

// The values that the engine knows.
var (
	states = []lifecycle.State{
		lifecycle.Pending, lifecycle.Standby, lifecycle.Running, lifecycle.Failed, lifecycle.Deleting,
	}
	operations = []lifecycle.OperationType{
		lifecycle.None, lifecycle.Provisioning, lifecycle.Restoring, lifecycle.Starting, lifecycle.Stopping, lifecycle.Archiving, lifecycle.Removing,
	}
	contents = []lifecycle.Content{lifecycle.Uninitialized, lifecycle.Empty, lifecycle.Restored, lifecycle.Adopted}
	reasons  = []lifecycle.Reason{
		lifecycle.Mismatch, lifecycle.Unreachable, lifecycle.ActionFailed, lifecycle.Timeout, lifecycle.DataLost,
	}
)

// Read returns the recorded status of a Workspace. An unknown value, of a status that was edited, counts as empty; see
// Unknown.
func Read(ws *v1alpha1.Workspace) lifecycle.Status {
	s := &ws.Status
	status := lifecycle.Status{
		ObservedGeneration: s.ObservedGeneration,
		Phase:              known(states, s.Phase),
		Operation:          operationOf(s.Operation),
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
			Store: a.Store, LeftOut: a.LeftOut,
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

// operationOf converts the operation. An unknown one counts as none.
func operationOf(o *v1alpha1.Operation) lifecycle.Operation {
	if o == nil || known(operations, o.Type) == "" {
		return lifecycle.Operation{}
	}
	return lifecycle.Operation{
		Type: known(operations, o.Type), ID: o.ID, StartedAt: moment(o.StartedAt), Attempt: o.Attempt, AttemptStartedAt: moment(o.AttemptStartedAt),
		Failures: lifecycle.Failures(o.Failures), NextRetryAt: moment(o.NextRetryAt), JobName: o.JobName, PointOfNoReturn: o.PointOfNoReturn,
		Failed: known(reasons, o.Failed),
	}
}

// Unknown lists the values of a status that Read ignores, in the order of the fields.
func Unknown(s *v1alpha1.WorkspaceStatus) []string {
	var unknown []string
	check := func(field, value string, is bool) {
		if value != "" && !is {
			unknown = append(unknown, fmt.Sprintf("status.%s: %q", field, value))
		}
	}
	check("phase", string(s.Phase), known(states, s.Phase) != "")
	if o := s.Operation; o != nil {
		check("operation.type", string(o.Type), known(operations, o.Type) != "")
		check("operation.failed", string(o.Failed), known(reasons, o.Failed) != "")
	}
	if v := s.Volume; v != nil {
		check("volume.content", string(v.Content), known(contents, v.Content) != "")
	}
	if e := s.Error; e != nil {
		check("error.reason", string(e.Reason), known(reasons, e.Reason) != "")
		check("error.operation", string(e.Operation), known(operations, e.Operation) != "")
	}
	return unknown
}

// known converts a value for the engine; empty if the engine does not know it.
func known[To, From ~string](all []To, value From) To {
	if !slices.Contains(all, To(value)) {
		return ""
	}
	return To(value)
}

// moment returns t in UTC, so that equal times are equal with ==; the zero time for nil.
func moment(t *metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
