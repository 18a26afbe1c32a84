package diff

import (
	"io"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// The JSON is stable: fields may be added, but none is removed or changes its meaning (docs/diff.md).

type jsonDifference struct {
	Scalers      []jsonScaler `json:"scalers"`
	ReplicaHours jsonHours    `json:"replicaHours"`
}

// jsonHours are not rounded, so that programs can add them up.
type jsonHours struct {
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Difference float64 `json:"difference"`
}

// jsonScaler has its lists even if they are empty. Times are in UTC.
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

// jsonCounts are null on the side without the schedule; 0 is a count.
type jsonCounts struct {
	Before *int32 `json:"before"`
	After  *int32 `json:"after"`
}

// jsonStep has the transition on the sides that have it. Seconds are negative if it is earlier now.
type jsonStep struct {
	Change       Kind                     `json:"change"`
	MovedSeconds int64                    `json:"movedSeconds,omitempty"`
	Before       *timeline.TransitionJSON `json:"before,omitempty"`
	After        *timeline.TransitionJSON `json:"after,omitempty"`
}

// jsonSetting has the values of the text output: a target or a metric is several fields of the spec.
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
	out := jsonDifference{Scalers: make([]jsonScaler, 0, len(d.Scalers)), ReplicaHours: hoursJSON(d.Before, d.After)}
	for i := range d.Scalers {
		out.Scalers = append(out.Scalers, scalerJSON(&d.Scalers[i]))
	}
	return timeline.WriteJSON(w, out)
}

func scalerJSON(s *Scaler) jsonScaler {
	now := s.Now()
	out := jsonScaler{
		Namespace: now.Scaler.Namespace, Name: now.Scaler.Name, Change: s.Kind,
		Timezone: now.Scaler.Calendar.Zone.String(), From: timeline.UTC(now.From), Until: timeline.UTC(now.Until),
		ReplicaHours: hoursJSON(s.Seconds()), Transitions: make([]jsonStep, 0, len(s.Steps)), Settings: make([]jsonSetting, 0, len(s.Settings)),
		Holidays: jsonHolidays{Added: append([]string{}, s.HolidaysAdded...), Removed: append([]string{}, s.HolidaysRemoved...)},
		Notes:    append([]string{}, s.Notes...),
	}
	out.ReplicasAtStart.Before, out.ReplicasAtStart.After = s.starts()
	if s.Renamed() {
		out.RenamedFrom = s.Before.Scaler.Name
	}
	for _, step := range s.Steps {
		out.Transitions = append(out.Transitions, jsonStep{
			Change: step.Kind, MovedSeconds: int64(step.By() / time.Second), Before: transitionJSON(step.Before), After: transitionJSON(step.After),
		})
	}
	for _, setting := range s.Settings {
		out.Settings = append(out.Settings, jsonSetting(setting))
	}
	return out
}

// transitionJSON has local times in the zone of the transition's timeline.
func transitionJSON(t *timeline.Transition) *timeline.TransitionJSON {
	if t == nil {
		return nil
	}
	out := t.JSON(t.Time.Location())
	return &out
}

func hoursJSON(before, after int64) jsonHours {
	return jsonHours{Before: timeline.Hours(before), After: timeline.Hours(after), Difference: timeline.Hours(after - before)}
}
