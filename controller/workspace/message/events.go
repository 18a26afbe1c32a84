package message

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Events returns what is to be announced after the status was written, in the order in which it
// happened.
func (f Facts) Events() []events.Event {
	var told []events.Event
	before, after, word := f.before(), f.Decision.Status, f.Decision.Code
	before.ObservedGeneration = after.ObservedGeneration // that the spec has changed is no news of its own
	if before == after {
		return f.news()
	}
	if strange := statusconv.Unknown(&f.Workspace.Status); len(strange) > 0 {
		told = append(told, events.EmitWorkspaceTrouble(v1alpha1.ReasonObserved,
			"These values are unknown and count as none: "+strings.Join(strange, ", ")))
	}
	switch said := f.textOf(word); {
	case f.failedNow():
		told = append(told, events.EmitWorkspaceTrouble(string(after.Error.Code), f.Error().Message))
	case word == lifecycle.CodeFinished:
		phrases := phrasesOf(before.Operation.Type)
		told = append(told, events.EmitWorkspace(phrases.done, f.fill(phrases.after)))
	case f.died():
		told = append(told, events.EmitWorkspaceTrouble(v1alpha1.ReasonPodGone, f.fill(
			fmt.Sprintf("Pod {pod} is gone or has ended, though RUNNING is desired; it is started again%s", f.startsAt()))))
	case said.tell == good:
		told = append(told, events.EmitWorkspace(string(word), f.sentence(word)))
	case said.tell == bad:
		told = append(told, events.EmitWorkspaceTrouble(string(word), f.sentence(word)))
	}
	if begun := after.Operation.Type; begun != before.Operation.Type && phrasesOf(begun).begins != "" {
		phrases := phrasesOf(begun)
		told = append(told, events.EmitWorkspace(phrases.begins, f.fill(phrases.doing+phrases.so)))
	}
	return told
}

// news returns the event for what is waited for, if it was something else before. The reason of
// Progressing is always the last word.
func (f Facts) news() []events.Event {
	word := f.Decision.Code
	if word == lifecycle.CodeVolumeTerminating && !f.dying() {
		return nil // Kyklos itself has deleted it
	}
	last := meta.FindStatusCondition(f.Workspace.Status.Conditions, v1alpha1.ConditionProgressing)
	if f.textOf(word).tell != news || last != nil && last.Reason == string(word) {
		return nil
	}
	return []events.Event{events.EmitWorkspaceTrouble(string(word), f.sentence(word))}
}

// died reports whether the Pod of a running workspace is gone, and nobody asked for that (W36).
func (f Facts) died() bool {
	return f.before().Phase == lifecycle.Running && f.Decision.Status.Phase == lifecycle.Standby &&
		f.Decision.Code == lifecycle.CodeObserved && f.Workspace.Spec.DesiredState == v1alpha1.DesiredRunning
}

// startsAt says when a Pod that died too soon is started again.
func (f Facts) startsAt() string {
	if f.Decision.Status.NextStartAt.IsZero() {
		return ""
	}
	return ", not before {startAt}"
}
