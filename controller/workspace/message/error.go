package message

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// The maximum length of status.error.message, as in the CRD, and of the details in it.
const (
	maxMessage = 2048
	maxDetail  = 512
)

// Error returns status.error: the failure that was just decided, or the previous one if it is the same; nil if there is none.
func (f Facts) Error() *v1alpha1.ErrorInfo {
	failure, last := f.Decision.Status.Error, f.Workspace.Status.Error
	if failure == (lifecycle.Failure{}) {
		return nil
	}
	if !f.failedNow() && last != nil && last.Message != "" {
		return last.DeepCopy()
	}
	v, text := f.fields(), f.textOf(failure.Code)
	message := join(fill(text.now, v), f.detail(), fill(text.do, v), fill(f.next(), v))
	return &v1alpha1.ErrorInfo{
		Reason: v1alpha1.FailureReason(failure.Reason), Operation: v1alpha1.OperationType(failure.Operation), Code: string(failure.Code),
		OccurredAt: statusconv.Time(failure.OccurredAt), Context: f.context(v), Message: head(message, maxMessage),
	}
}

// repeated reports whether the failure is the previous one, reported again when the state becomes ERROR.
func (f Facts) repeated() bool {
	failure, last := f.Decision.Status.Error, f.Workspace.Status.Error
	return f.Detail == (Detail{}) && last != nil && last.Code == string(failure.Code) && last.Reason == v1alpha1.FailureReason(failure.Reason)
}

// detail is the sentence with the cause: the error of the store, the API server, the mover or the container.
func (f Facts) detail() string {
	detail := f.Detail.Text
	if f.repeated() {
		detail = f.Workspace.Status.Error.Context[detailKeys[f.Decision.Status.Error.Reason]]
	}
	if detail = strings.TrimSpace(detail); detail == "" {
		return ""
	}
	return "Cause: " + strings.TrimRight(tail(detail), ".") + "."
}

// next is what happens after a failure.
func (f Facts) next() string {
	status := f.Decision.Status
	switch {
	case status.Phase == lifecycle.Failed && status.Error.Probed():
		return "Kyklos retries every five minutes; to retry now: " + retry + "."
	case status.Phase == lifecycle.Failed:
		return "Kyklos does nothing until the spec changes or a retry is requested: " + retry + "."
	case status.Operation.Failed != "":
		return "No attempt is left."
	case status.Operation.Type == lifecycle.Removing, status.Operation.Type == lifecycle.None:
		return ""
	default:
		return "Attempt {{.Attempt}} begins at {{.RetryAt}}."
	}
}

// detailKeys are the keys of Detail.Text in the context.
var detailKeys = map[lifecycle.Reason]string{
	lifecycle.Mismatch: "actual", lifecycle.Unreachable: "error", lifecycle.ActionFailed: "stderr", lifecycle.Timeout: "stderr", lifecycle.DataLost: "detail",
}

// context returns the machine-readable details of an error (W51).
func (f Facts) context(v fields) map[string]string {
	if f.repeated() {
		return f.Workspace.Status.Error.DeepCopy().Context
	}
	failure, was := f.Decision.Status.Error, f.before().Operation
	context := map[string]string{"code": f.Detail.Code}
	if was.Attempt > 0 {
		context["attempt"] = strconv.Itoa(int(was.Attempt))
	}
	if f.Detail.ExitCode != nil {
		context["exit_code"] = strconv.Itoa(int(*f.Detail.ExitCode))
	}
	if f.Detail.StatusCode != 0 {
		context["status_code"] = strconv.Itoa(f.Detail.StatusCode)
	}
	switch failure.Reason {
	case lifecycle.Mismatch:
		context["expected"], context["actual"] = fill(mismatches[failure.Code].expected, v), fill(mismatches[failure.Code].actual, v)
	case lifecycle.Unreachable:
		context["endpoint"] = endpoint(failure.Code)
		if failure.Code == lifecycle.CodeArchiveElsewhere {
			context["store"] = f.Store
		}
	case lifecycle.ActionFailed:
		context["action"] = action(was)
	case lifecycle.Timeout:
		context["operation"] = string(failure.Operation)
		context["limit_seconds"] = strconv.FormatInt(v.Limit, 10)
		context["elapsed_seconds"] = strconv.Itoa(int(failure.OccurredAt.Sub(was.AttemptStartedAt).Seconds()))
	case lifecycle.DataLost:
		context["archive_key"] = v.Key
	}
	if f.Detail.Text != "" {
		context[detailKeys[failure.Reason]] = tail(f.Detail.Text)
	}
	maps.DeleteFunc(context, func(_, value string) bool { return value == "" })
	return context
}

// endpoint is what could not be reached.
func endpoint(code lifecycle.Code) string {
	switch code {
	case lifecycle.CodeStoreUnreachable, lifecycle.CodeBucketMissing, lifecycle.CodeArchiveElsewhere:
		return "s3"
	default:
		return "k8s-api"
	}
}

var actions = map[lifecycle.OperationType]string{
	lifecycle.Provisioning: "provision", lifecycle.Restoring: "restore", lifecycle.Starting: "start", lifecycle.Archiving: "archive",
}

// action is what failed.
func action(operation lifecycle.Operation) string {
	if operation.PointOfNoReturn {
		return "delete_volume"
	}
	return cmp.Or(actions[operation.Type], "delete")
}

// mismatches are the expected and actual values of a Mismatch.
var mismatches = map[lifecycle.Code]struct{ expected, actual string }{
	lifecycle.CodePodForeign:     {"a Pod whose controller is the Workspace with the UID {{.UID}}", "the Pod with the UID {{.SeenPod}}"},
	lifecycle.CodeVolumeForeign:  {"a PersistentVolumeClaim with the label kyklos.io/workspace-uid={{.UID}}", "the PersistentVolumeClaim with the UID {{.SeenVolume}}"},
	lifecycle.CodeVolumeUnknown:  {"no home, or the recorded one", "a home on the PersistentVolumeClaim with the UID {{.SeenVolume}}"},
	lifecycle.CodeVolumeWaste:    {"the home", "no home"},
	lifecycle.CodeArchiveCorrupt: {"an archive of volume {{.VolumeUID}} in epoch {{.Epoch}}", "a different archive, or one that does not match its marker"},
}

// join joins sentences, except empty ones.
func join(sentences ...string) string {
	var some []string
	for _, sentence := range sentences {
		if sentence != "" {
			some = append(some, sentence)
		}
	}
	return strings.Join(some, " ")
}

// head and tail shorten a text, to a number of bytes and to that of a detail, at a character boundary.
func head(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-len("...")], "") + "..."
}

func tail(text string) string {
	if len(text) <= maxDetail {
		return strings.ToValidUTF8(text, "")
	}
	text = text[len(text)-maxDetail:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "..." + strings.ToValidUTF8(text, "")
}
