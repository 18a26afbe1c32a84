package workspace

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/workspace/record"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
)

// show brings the gauges up to what is so now.
func (p *pass) show() {
	now := &p.status
	if p.wrote {
		now = &p.decision.Status
	}
	metrics.RecordWorkspace(client.ObjectKeyFromObject(p.ws), metrics.Workspace{
		State: string(record.Display(*now)), ArchiveBytes: now.Archive.Size, Moving: slotOf(p.ws, now, p.now).moves,
	})
}

// count counts what was just written.
func (p *pass) count() {
	before, after := p.status, p.decision.Status
	was, is := before.Operation, after.Operation
	if is.Type != lifecycle.None && (is.Attempt != was.Attempt || is.Type != was.Type) && is.Failed == "" {
		metrics.RecordWorkspaceAttempt(string(is.Type))
	}
	if after.Error != before.Error && after.Error.Reason != "" && (was.Failed == "" || after.Error.Reason != was.Failed) {
		metrics.RecordWorkspaceFailure(string(after.Error.Operation), string(after.Error.Reason))
	}
	if was.ID == "" || is.Type == was.Type {
		return
	}
	result := metrics.OperationCompleted
	switch {
	case after.Phase == lifecycle.Failed:
		result = metrics.OperationFailed
	case p.decision.Code != lifecycle.CodeFinished:
		result = metrics.OperationCancelled
	}
	metrics.RecordWorkspaceOperation(string(was.Type), result, p.now.Sub(was.StartedAt).Seconds())
}
