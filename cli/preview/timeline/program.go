package timeline

import (
	"encoding/json"
	"io"
	"time"
)

// ForPrograms is a transition in the JSON of preview, explain and diff, which is stable.
type ForPrograms struct {
	Time       string `json:"time"`  // RFC 3339 in UTC
	Local      string `json:"local"` // RFC 3339 with an offset
	From       int32  `json:"from"`
	To         int32  `json:"to"`
	Window     string `json:"window"`
	Reason     Reason `json:"reason"`
	Holiday    string `json:"holiday,omitempty"`
	GraceUntil string `json:"graceUntil,omitempty"`
}

// ForPrograms is the transition with local times on the clock of zone.
func (t Transition) ForPrograms(zone *time.Location) ForPrograms {
	shown := ForPrograms{
		Time: UTC(t.Time), Local: Local(t.Time.In(zone)),
		From: t.From, To: t.To, Window: t.Window, Reason: t.Reason, Holiday: t.Holiday,
	}
	if !t.GraceUntil.IsZero() {
		shown.GraceUntil = UTC(t.GraceUntil)
	}
	return shown
}

// UTC is an instant for programs: RFC 3339 in UTC.
func UTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Local is an instant on the clock of its zone for programs: RFC 3339 with an offset also in UTC, where time.RFC3339 writes Z.
func Local(t time.Time) string { return t.Format("2006-01-02T15:04:05-07:00") }

// WriteJSON writes a document for programs, indented, with <, > and & as they are.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
