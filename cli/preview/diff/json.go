package diff

import (
	"io"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// The JSON is stable: fields may come, and none goes or changes its meaning (docs/diff.md).

type jsonDifference struct {
	Scalers      []jsonScaler `json:"scalers"`
	ReplicaHours jsonHours    `json:"replicaHours"`
}

// Hours are not rounded: programs add them up.
type jsonHours struct {
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Difference float64 `json:"difference"`
}

// jsonScaler has its lists always, so that programs need not ask whether they are there. Times are in UTC.
type jsonScaler struct {
	Namespace       string        `json:"namespace"`
	Name            string        `json:"name"`
	RenamedFrom     string        `json:"renamedFrom,omitempty"`
	Change          Kind          `json:"change"`
	Timezone        string        `json:"timezone"`
	From            string        `json:"from"`
	Until           string        `json:"until"`
	ReplicasAtStart jsonCounts    `json:"replicasAtStart"`
	ReplicaHours    jsonHours     `json:"replicaHours"`
	Transitions     []jsonStep    `json:"transitions"`
	Settings        []jsonSetting `json:"settings"`
	Holidays        jsonHolidays  `json:"holidays"`
	Notes           []string      `json:"notes"`
}

// jsonCounts are null on the side on which there is no schedule; 0 is a count.
type jsonCounts struct {
	Before *int32 `json:"before"`
	After  *int32 `json:"after"`
}

// jsonStep has the transition on both sides, or on the one that has it. A move to earlier has negative seconds.
type jsonStep struct {
	Change       Kind                  `json:"change"`
	MovedSeconds int64                 `json:"movedSeconds,omitempty"`
	Before       *timeline.ForPrograms `json:"before,omitempty"`
	After        *timeline.ForPrograms `json:"after,omitempty"`
}

// jsonSetting is in the words of the text: what a target or a metric is takes several fields of the spec.
type jsonSetting struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

type jsonHolidays struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// JSON writes the difference for programs.
func JSON(w io.Writer, d *Difference) error {
	out := jsonDifference{Scalers: make([]jsonScaler, 0, len(d.Scalers)), ReplicaHours: inHours(d.Before, d.After)}
	for i := range d.Scalers {
		out.Scalers = append(out.Scalers, scalerJSON(&d.Scalers[i]))
	}
	return timeline.WriteJSON(w, out)
}

func scalerJSON(s *Scaler) jsonScaler {
	now := s.Now()
	out := jsonScaler{
		Namespace: now.Scaler.Namespace, Name: now.Scaler.Name, Change: s.Kind,
		Timezone: now.Scaler.Calendar.Zone.String(),
		From:     timeline.UTC(now.From), Until: timeline.UTC(now.Until),
		ReplicaHours: inHours(s.Seconds()),
		Transitions:  make([]jsonStep, 0, len(s.Steps)),
		Settings:     make([]jsonSetting, 0, len(s.Settings)),
		Holidays:     jsonHolidays{Added: listed(s.HolidaysAdded), Removed: listed(s.HolidaysRemoved)},
		Notes:        listed(s.Notes),
	}
	out.ReplicasAtStart.Before, out.ReplicasAtStart.After = s.starts()
	if s.Renamed() {
		out.RenamedFrom = s.Before.Scaler.Name
	}
	for _, step := range s.Steps {
		out.Transitions = append(out.Transitions, jsonStep{
			Change: step.Kind, MovedSeconds: int64(step.By() / time.Second),
			Before: transitionJSON(step.Before), After: transitionJSON(step.After),
		})
	}
	for _, setting := range s.Settings {
		out.Settings = append(out.Settings, jsonSetting(setting))
	}
	return out
}

// transitionJSON has local times on the clock by which the transition was computed.
func transitionJSON(t *timeline.Transition) *timeline.ForPrograms {
	if t == nil {
		return nil
	}
	shown := t.ForPrograms(t.Time.Location())
	return &shown
}

func inHours(before, after int64) jsonHours {
	return jsonHours{Before: float64(before) / 3600, After: float64(after) / 3600, Difference: float64(after-before) / 3600}
}

// listed is never null in JSON.
func listed(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
