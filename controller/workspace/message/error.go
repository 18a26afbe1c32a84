package message

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// The bounds of status.error: a message's in the CRD, and ours for what others say.
const (
	maxMessage = 2048
	maxDetail  = 512
)

// Error returns status.error: what went wrong in this decision, or as it was if the failure is the same
// as before; nil if nothing is wrong.
func (f Facts) Error() *v1alpha1.ErrorInfo {
	failure, last := f.Decision.Status.Error, f.Workspace.Status.Error
	if failure == (lifecycle.Failure{}) {
		return nil
	}
	if !f.failedNow() && last != nil && last.Message != "" {
		return last.DeepCopy()
	}
	info := &v1alpha1.ErrorInfo{
		Reason: v1alpha1.FailureReason(failure.Reason), Operation: v1alpha1.OperationType(failure.Operation), Code: string(failure.Code),
		OccurredAt: statusconv.Time(failure.OccurredAt), Context: f.context(),
	}
	said := f.textOf(failure.Code)
	info.Message = head(f.join(said.now, f.said(), said.do, f.next()), maxMessage)
	return info
}

// repeated reports whether the failure is the one before, said again when the state becomes ERROR.
func (f Facts) repeated() bool {
	failure, last := f.Decision.Status.Error, f.Workspace.Status.Error
	return f.Detail == (Detail{}) && last != nil && last.Code == string(failure.Code) && last.Reason == v1alpha1.FailureReason(failure.Reason)
}

// said is what others said about it. Braces in it are no names of facts.
func (f Facts) said() string {
	detail := f.Detail.Text
	if f.repeated() {
		detail = f.Workspace.Status.Error.Context[keyDetail(f.Decision.Status.Error.Reason)]
	}
	if detail = strings.TrimSpace(detail); detail == "" {
		return ""
	}
	return "The error was: " + strings.NewReplacer("{", "(", "}", ")").Replace(strings.TrimRight(tail(detail, maxDetail), ".")) + "."
}

// next says what comes after a failure.
func (f Facts) next() string {
	status := f.Decision.Status
	switch {
	case status.Phase == lifecycle.Failed && status.Error.Reason == lifecycle.Unreachable:
		return "Kyklos tries again every five minutes; to try at once: " + retry + "."
	case status.Phase == lifecycle.Failed:
		return "Kyklos does nothing until the spec is changed or it is asked to try again: " + retry + "."
	case status.Operation.Failed != "":
		return "No attempt is left."
	case status.Operation.Type == lifecycle.Removing:
		return ""
	case status.Operation.Type != lifecycle.None:
		return "Attempt {attempt} begins at {retryAt}."
	default:
		return ""
	}
}

// keyDetail is the key of the context under which others' words are.
func keyDetail(reason lifecycle.Reason) string {
	switch reason {
	case lifecycle.Mismatch:
		return "actual"
	case lifecycle.Unreachable:
		return "error"
	case lifecycle.ActionFailed, lifecycle.Timeout:
		return "stderr"
	default:
		return "detail"
	}
}

// context returns the facts of an error for programs (seed 001, ErrorInfo).
func (f Facts) context() map[string]string {
	if f.repeated() {
		return f.Workspace.Status.Error.DeepCopy().Context
	}
	status, before := f.Decision.Status, f.before()
	facts := map[string]string{"code": f.Detail.Code}
	if before.Operation.Attempt > 0 {
		facts["attempt"] = strconv.Itoa(int(before.Operation.Attempt))
	}
	if f.Detail.ExitCode != nil {
		facts["exit_code"] = strconv.Itoa(int(*f.Detail.ExitCode))
	}
	if f.Detail.StatusCode != 0 {
		facts["status_code"] = strconv.Itoa(f.Detail.StatusCode)
	}
	switch status.Error.Reason {
	case lifecycle.Mismatch:
		facts["expected"], facts["actual"] = f.fill(expected[status.Error.Code]), f.fill(actual[status.Error.Code])
	case lifecycle.Unreachable:
		facts["endpoint"] = endpoint(status.Error.Code)
		if status.Error.Code == lifecycle.CodeArchiveElsewhere {
			facts["store"] = f.Store
		}
	case lifecycle.ActionFailed:
		facts["action"] = action(before.Operation)
	case lifecycle.Timeout:
		facts["operation"] = string(status.Error.Operation)
		facts["limit_seconds"] = f.values()["limit"]
		facts["elapsed_seconds"] = strconv.Itoa(int(status.Error.OccurredAt.Sub(before.Operation.AttemptStartedAt).Seconds()))
	case lifecycle.DataLost:
		facts["archive_key"] = f.values()["key"]
	}
	if f.Detail.Text != "" {
		facts[keyDetail(status.Error.Reason)] = tail(f.Detail.Text, maxDetail)
	}
	for key, value := range facts {
		if value == "" {
			delete(facts, key)
		}
	}
	return facts
}

// endpoint names who could not be reached.
func endpoint(word lifecycle.Code) string {
	switch word {
	case lifecycle.CodeStoreUnreachable, lifecycle.CodeBucketMissing, lifecycle.CodeArchiveElsewhere:
		return "s3"
	default:
		return "k8s-api"
	}
}

// action names what failed, in the seed's words.
func action(claim lifecycle.Operation) string {
	switch claim.Type {
	case lifecycle.Provisioning:
		return "provision"
	case lifecycle.Restoring:
		return "restore"
	case lifecycle.Starting:
		return "start"
	case lifecycle.Archiving:
		if claim.PointOfNoReturn {
			return "delete_volume"
		}
		return "archive"
	default:
		return "delete"
	}
}

// What was expected in a Mismatch, and what is there.
var (
	expected = map[lifecycle.Code]string{
		lifecycle.CodePodForeign:     "a Pod whose controller is the Workspace with the UID {uid}",
		lifecycle.CodeVolumeForeign:  "a claim with the label kyklos.io/workspace-uid={uid}",
		lifecycle.CodeVolumeUnknown:  "no home, or the recorded one",
		lifecycle.CodeVolumeWaste:    "the home",
		lifecycle.CodeArchiveCorrupt: "an archive of volume {volumeUID} in epoch {epoch}",
	}
	actual = map[lifecycle.Code]string{
		lifecycle.CodePodForeign:     "the Pod with the UID {seenPod}",
		lifecycle.CodeVolumeForeign:  "the claim with the UID {seenVolume}",
		lifecycle.CodeVolumeUnknown:  "a home on the claim with the UID {seenVolume}",
		lifecycle.CodeVolumeWaste:    "no home",
		lifecycle.CodeArchiveCorrupt: "another one, or one that does not match its marker",
	}
)

// join fills texts and puts them together, leaving out empty ones.
func (f Facts) join(texts ...string) string {
	filled := make([]string, len(texts))
	for i, text := range texts {
		filled[i] = f.fill(text)
	}
	return join(filled...)
}

func join(sentences ...string) string {
	var said []string
	for _, sentence := range sentences {
		if sentence != "" {
			said = append(said, sentence)
		}
	}
	return strings.Join(said, " ")
}

// head keeps the beginning of a text, tail the end: at most so many bytes, between characters.
func head(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-len("...")], "") + "..."
}

func tail(text string, bytes int) string {
	if len(text) <= bytes {
		return strings.ToValidUTF8(text, "")
	}
	text = text[len(text)-bytes:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "..." + strings.ToValidUTF8(text, "")
}
