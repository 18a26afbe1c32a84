package explain

import (
	"io"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// The types of the JSON. It is stable: fields may come, and none goes or changes its meaning (docs/explain.md).
type (
	jsonDocument struct {
		Explanations []jsonExplanation `json:"explanations"`
	}
	jsonExplanation struct {
		Namespace   string                 `json:"namespace"`
		Name        string                 `json:"name"`
		Target      jsonTarget             `json:"target"`
		Timezone    string                 `json:"timezone"`
		Time        string                 `json:"time"`
		Local       string                 `json:"local"`
		Answer      string                 `json:"answer"`
		DecidedBy   Decider                `json:"decidedBy"`
		Window      string                 `json:"window,omitempty"`
		Replicas    *int32                 `json:"replicas,omitempty"`
		Effective   *int32                 `json:"effectiveReplicas,omitempty"`
		MinReplicas *int32                 `json:"minReplicas,omitempty"`
		MaxReplicas *int32                 `json:"maxReplicas,omitempty"`
		Windows     []jsonWindow           `json:"windows"`
		Facts       []Fact                 `json:"facts"`
		Next        []timeline.ForPrograms `json:"next"`
	}
	jsonTarget struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
	}
	jsonWindow struct {
		Window   string      `json:"window"`
		When     string      `json:"when"`
		Count    string      `json:"count"`
		Replicas int32       `json:"replicas"`
		State    WindowState `json:"state"`
		Why      string      `json:"why"`
		Notes    []string    `json:"notes,omitempty"`
	}
)

// JSON writes explanations for programs, all in one document.
func JSON(w io.Writer, all []*Explanation) error {
	document := jsonDocument{Explanations: make([]jsonExplanation, 0, len(all))}
	for _, e := range all {
		document.Explanations = append(document.Explanations, e.json())
	}
	return timeline.WriteJSON(w, document)
}

// json has its lists always, so that programs need not ask whether they are there. The count is left out where there is none: 0
// is one.
func (e *Explanation) json() jsonExplanation {
	ref := e.Scaler.Spec.TargetRef
	out := jsonExplanation{
		Namespace: e.Scaler.Namespace, Name: e.Scaler.Name, Target: jsonTarget{ref.APIVersion, ref.Kind, ref.Name},
		Timezone: e.Scaler.Spec.Timezone, Time: timeline.UTC(e.At), Local: timeline.Local(e.At),
		Answer: e.Answer, DecidedBy: e.Decider, Window: e.Window, Replicas: e.Replicas, Effective: e.Effective,
		Windows: make([]jsonWindow, 0, len(e.Windows)), Facts: append([]Fact{}, e.Facts...), Next: []timeline.ForPrograms{},
	}
	if e.Decider == ByMetric {
		out.MinReplicas, out.MaxReplicas = &e.Lowest, &e.Highest
	}
	for _, w := range e.Windows {
		out.Windows = append(out.Windows, jsonWindow{w.Label, w.When, w.Count, w.Replicas, w.State, w.Why, w.Notes})
	}
	if e.Next == nil {
		return out
	}
	for _, t := range e.Next.Transitions {
		out.Next = append(out.Next, t.ForPrograms(t.Time.Location()))
	}
	return out
}
