package explain

import (
	"encoding/json"
	"io"
	"time"

	"kyklos.io/kyklos/internal/preview"
)

// The types of the JSON. It is stable: fields may come, and none goes or changes its meaning (docs/explain.md).
type (
	jsonDocument struct {
		Explanations []jsonExplanation `json:"explanations"`
	}
	jsonExplanation struct {
		Namespace   string           `json:"namespace"`
		Name        string           `json:"name"`
		Target      jsonTarget       `json:"target"`
		Timezone    string           `json:"timezone"`
		Time        string           `json:"time"`
		Local       string           `json:"local"`
		Answer      string           `json:"answer"`
		DecidedBy   Decider          `json:"decidedBy"`
		Window      string           `json:"window,omitempty"`
		Replicas    *int32           `json:"replicas,omitempty"`
		Effective   *int32           `json:"effectiveReplicas,omitempty"`
		MinReplicas *int32           `json:"minReplicas,omitempty"`
		MaxReplicas *int32           `json:"maxReplicas,omitempty"`
		Windows     []jsonWindow     `json:"windows"`
		Facts       []Fact           `json:"facts"`
		Next        []jsonTransition `json:"next"`
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
	jsonTransition struct {
		Time       string         `json:"time"`
		Local      string         `json:"local"`
		From       int32          `json:"from"`
		To         int32          `json:"to"`
		Window     string         `json:"window"`
		Reason     preview.Reason `json:"reason"`
		GraceUntil string         `json:"graceUntil,omitempty"`
	}
)

// JSON writes explanations for programs.
func JSON(w io.Writer, all []*Explanation) error {
	document := jsonDocument{Explanations: make([]jsonExplanation, 0, len(all))}
	for _, e := range all {
		document.Explanations = append(document.Explanations, e.json())
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

func (e *Explanation) json() jsonExplanation {
	ref := e.Scaler.Spec.TargetRef
	out := jsonExplanation{
		Namespace: e.Scaler.Namespace, Name: e.Scaler.Name, Target: jsonTarget{ref.APIVersion, ref.Kind, ref.Name},
		Timezone: e.Scaler.Spec.Timezone, Time: utc(e.At), Local: local(e.At),
		Answer: e.Answer, DecidedBy: e.Decider, Window: e.Window, Replicas: e.Replicas, Effective: e.Effective,
		Windows: make([]jsonWindow, 0, len(e.Windows)), Facts: append([]Fact{}, e.Facts...), Next: []jsonTransition{},
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
		shown := jsonTransition{Time: utc(t.Time), Local: local(t.Time), From: t.From, To: t.To, Window: t.Window, Reason: t.Reason}
		if !t.GraceUntil.IsZero() {
			shown.GraceUntil = utc(t.GraceUntil)
		}
		out.Next = append(out.Next, shown)
	}
	return out
}

// utc is RFC 3339 in UTC.
func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// local is RFC 3339 with an offset, also in UTC.
func local(t time.Time) string { return t.Format("2006-01-02T15:04:05-07:00") }
