package timeline

import (
	"encoding/json"
	"io"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// TransitionJSON is a transition in the JSON of preview, explain and diff, which is stable.
type TransitionJSON struct {
	Time       string `json:"time"`  // RFC 3339 in UTC
	Local      string `json:"local"` // RFC 3339 with an offset
	From       int32  `json:"from"`
	To         int32  `json:"to"`
	Window     string `json:"window"`
	Reason     Reason `json:"reason"`
	Holiday    string `json:"holiday,omitempty"`
	GraceUntil string `json:"graceUntil,omitempty"`
}

// JSON is the transition with local times in zone.
func (t Transition) JSON(zone *time.Location) TransitionJSON {
	out := TransitionJSON{
		Time: UTC(t.Time), Local: Local(t.Time.In(zone)),
		From: t.From, To: t.To, Window: t.Window, Reason: t.Reason, Holiday: t.Holiday,
	}
	if !t.GraceUntil.IsZero() {
		out.GraceUntil = UTC(t.GraceUntil)
	}
	return out
}

// TargetJSON is a target in the JSON of preview and explain.
type TargetJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// TargetOf is the target of a spec.
func TargetOf(spec *v1beta1.TimeWindowScalerSpec) TargetJSON {
	return TargetJSON{spec.TargetRef.APIVersion, spec.TargetRef.Kind, spec.TargetRef.Name}
}

// UTC is an instant in JSON: RFC 3339 in UTC.
func UTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Local is a local time in JSON: RFC 3339 with an offset, also in UTC, where time.RFC3339 writes Z.
func Local(t time.Time) string { return t.Format("2006-01-02T15:04:05-07:00") }

// WriteJSON writes an indented document, with <, > and & as they are.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
