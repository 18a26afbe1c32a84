package explain

import (
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// Text writes an explanation for people: the answer, the windows, the facts, and the next changes.
func Text(w io.Writer, e *Explanation, colours bool) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n%s/%s scales %s, in %s\n", console.Bold.Paint(e.Answer, colours),
		e.Scaler.Namespace, e.Scaler.Name, e.Scaler.Target(), e.Scaler.Spec.Timezone)
	if len(e.Windows) > 0 {
		fmt.Fprintf(&out, "\nWindows (the last one that covers this time decides):\n%s", e.windowTable().String(colours))
	}
	var facts, next console.Table
	for _, fact := range e.Facts {
		facts.Add(console.Plain, fact.Topic, strings.ReplaceAll(fact.Text, "\n", " "))
	}
	if len(e.Facts) > 0 {
		fmt.Fprintln(&out)
	}
	out.WriteString(facts.String(colours))
	if e.Next != nil && len(e.Next.Transitions) == 0 {
		fmt.Fprintf(&out, "\nThe count does not change before %s.\n", stamp(e.Until))
	} else if e.Next != nil {
		for _, t := range e.Next.Transitions {
			next.Add(console.Plain, stamp(t.Time), e.Scaler.Count(t.From)+" -> "+e.Scaler.Count(t.To), in(t.Time.Sub(e.At)), e.Next.WhyWithGrace(t, e.At.Location()))
		}
		if len(e.Next.Transitions) < transitionsAhead {
			next.Add(console.Plain, "no further change before "+stamp(e.Until))
		}
		fmt.Fprintf(&out, "\nNext changes of the count:\n%s", next.String(colours))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (e *Explanation) windowTable() *console.Table {
	var table console.Table
	for i, w := range e.Windows {
		label, style := w.Label, console.Dim
		if timecalc.IsHash(label) {
			label = "-"
		}
		if w.State == Decides {
			style = console.Green
		}
		table.Add(style, fmt.Sprint(i+1), label, w.When, w.Count, w.Why)
		for _, note := range w.Notes {
			table.Add(style, "   "+note)
		}
	}
	return &table
}

// The types of the JSON, which is stable: fields may be added, but none is removed or changes its meaning (docs/explain.md).
type (
	jsonDocument struct {
		Explanations []jsonExplanation `json:"explanations"`
	}
	jsonExplanation struct {
		Namespace   string                    `json:"namespace"`
		Name        string                    `json:"name"`
		Target      timeline.TargetJSON       `json:"target"`
		Timezone    string                    `json:"timezone"`
		Time        string                    `json:"time"`
		Local       string                    `json:"local"`
		Answer      string                    `json:"answer"`
		DecidedBy   Decider                   `json:"decidedBy"`
		Window      string                    `json:"window,omitempty"`
		Replicas    *int32                    `json:"replicas,omitempty"`
		Effective   *int32                    `json:"effectiveReplicas,omitempty"`
		MinReplicas *int32                    `json:"minReplicas,omitempty"`
		MaxReplicas *int32                    `json:"maxReplicas,omitempty"`
		Windows     []jsonWindow              `json:"windows"`
		Facts       []Fact                    `json:"facts"`
		Next        []timeline.TransitionJSON `json:"next"`
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

// JSON writes explanations for programs, as one document.
func JSON(w io.Writer, all []*Explanation) error {
	document := jsonDocument{Explanations: make([]jsonExplanation, 0, len(all))}
	for _, e := range all {
		document.Explanations = append(document.Explanations, e.json())
	}
	return timeline.WriteJSON(w, document)
}

// json has its lists even if they are empty. A missing count is left out: 0 is a count.
func (e *Explanation) json() jsonExplanation {
	out := jsonExplanation{
		Namespace: e.Scaler.Namespace, Name: e.Scaler.Name, Target: timeline.TargetOf(e.Scaler.Spec),
		Timezone: e.Scaler.Spec.Timezone, Time: timeline.UTC(e.At), Local: timeline.Local(e.At),
		Answer: e.Answer, DecidedBy: e.Decider, Window: e.Window, Replicas: e.Replicas, Effective: e.Effective,
		Windows: make([]jsonWindow, 0, len(e.Windows)), Facts: append([]Fact{}, e.Facts...), Next: []timeline.TransitionJSON{},
	}
	if e.Decider == ByMetric {
		out.MinReplicas, out.MaxReplicas = &e.Lowest, &e.Highest
	}
	for _, w := range e.Windows {
		out.Windows = append(out.Windows, jsonWindow{w.Label, w.When, w.Count, w.Replicas, w.State, w.Why, w.Notes})
	}
	if e.Next != nil {
		for _, t := range e.Next.Transitions {
			out.Next = append(out.Next, t.JSON(t.Time.Location()))
		}
	}
	return out
}
