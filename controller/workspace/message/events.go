package message

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Events returns the events to publish after the status was written, in order.
func (f Facts) Events() []events.Event {
	before, after, code := f.before(), f.Decision.Status, f.Decision.Code
	before.ObservedGeneration = after.ObservedGeneration // a new generation alone is no event
	if before == after {
		return f.changeOfCode()
	}
	var out []events.Event
	normally := func(reason, note string) { out = append(out, events.EmitWorkspace(reason, note)) }
	warn := func(reason, note string) { out = append(out, events.EmitWorkspaceTrouble(reason, note)) }
	if unknown := statusconv.Unknown(&f.Workspace.Status); len(unknown) > 0 {
		warn(v1alpha1.ReasonObserved, "Ignoring unknown values: "+strings.Join(unknown, ", "))
	}
	v := f.fields()
	switch text := f.textOf(code); {
	case f.failedNow():
		warn(string(after.Error.Code), f.Error().Message)
	case code == lifecycle.CodeFinished:
		finished := textsOf(before.Operation.Type)
		normally(finished.done, fill(finished.after, v))
	case f.podDied():
		warn(v1alpha1.ReasonPodGone, fill("Pod {{.Pod}} is gone or has ended, although RUNNING is desired. It is started again"+f.notBefore(), v))
	case text.event == normal:
		normally(string(code), f.sentence(code, v))
	case text.event == warning:
		warn(string(code), f.sentence(code, v))
	}
	if next := after.Operation.Type; next != before.Operation.Type && textsOf(next).started != "" {
		normally(textsOf(next).started, strings.TrimSuffix(fill(doing, v), "."))
	}
	return out
}

// changeOfCode returns the event for a code that is reported when it changes. The reason of Progressing is the last code.
func (f Facts) changeOfCode() []events.Event {
	code := f.Decision.Code
	last := meta.FindStatusCondition(f.Workspace.Status.Conditions, v1alpha1.ConditionProgressing)
	if f.textOf(code).event != onChange || last != nil && last.Reason == string(code) {
		return nil
	}
	return []events.Event{events.EmitWorkspaceTrouble(string(code), f.sentence(code, f.fields()))}
}

// podDied reports whether the Pod of a running workspace is gone although it is desired (W36).
func (f Facts) podDied() bool {
	return f.before().Phase == lifecycle.Running && f.Decision.Status.Phase == lifecycle.Standby &&
		f.Decision.Code == lifecycle.CodeObserved && f.Workspace.Spec.DesiredState == v1alpha1.DesiredRunning
}

// notBefore is when a Pod that ended too soon is started again.
func (f Facts) notBefore() string {
	if f.Decision.Status.NextStartAt.IsZero() {
		return ""
	}
	return ", at {{.StartAt}} at the earliest"
}
