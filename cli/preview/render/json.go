package render

import (
	"cmp"
	"io"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// The types of the JSON, which is stable: see docs/preview.md and docs/preview.schema.json.
type (
	document struct {
		Scalers []scaler `json:"scalers"`
	}
	scaler struct {
		Namespace                 string                    `json:"namespace"`
		Name                      string                    `json:"name"`
		Target                    timeline.TargetJSON       `json:"target"`
		Timezone                  string                    `json:"timezone"`
		From                      string                    `json:"from"`
		Until                     string                    `json:"until"`
		Paused                    bool                      `json:"paused"`
		ReplicasAtStart           int32                     `json:"replicasAtStart"`
		WindowAtStart             string                    `json:"windowAtStart"`
		Transitions               []timeline.TransitionJSON `json:"transitions"`
		ReplicaHours              float64                   `json:"replicaHours"`
		Highest                   int32                     `json:"highest"`
		AlwaysHighestReplicaHours float64                   `json:"alwaysHighestReplicaHours"`
		SavedReplicaHours         float64                   `json:"savedReplicaHours"`
		Days                      []day                     `json:"days"`
		ClockChanges              []change                  `json:"clockChanges"`
		State                     *state                    `json:"state,omitempty"`
		Notes                     []string                  `json:"notes"`
	}
	state struct {
		EffectiveReplicas *int32 `json:"effectiveReplicas,omitempty"`
		ObservedReplicas  *int32 `json:"observedReplicas,omitempty"`
		CurrentWindow     string `json:"currentWindow,omitempty"`
		Holiday           string `json:"holiday,omitempty"`
		GracePeriodExpiry string `json:"gracePeriodExpiry,omitempty"`
	}
	day struct {
		Date         string  `json:"date"`
		ReplicaHours float64 `json:"replicaHours"`
		Holiday      bool    `json:"holiday,omitempty"`
		ClockChange  bool    `json:"clockChange,omitempty"`
	}
	change struct {
		Time     string `json:"time"`
		Local    string `json:"local"`
		Timezone string `json:"timezone"`
		Before   string `json:"before"`
		After    string `json:"after"`
	}
)

// JSON writes timelines for programs, in their order.
func JSON(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
	doc := document{Scalers: make([]scaler, 0, len(timelines))}
	for _, t := range timelines {
		doc.Scalers = append(doc.Scalers, scalerOf(t, cmp.Or(zone, t.Scaler.Calendar.Zone)))
	}
	return timeline.WriteJSON(w, doc)
}

func scalerOf(t *timeline.Timeline, zone *time.Location) scaler {
	s := scaler{
		Namespace: t.Scaler.Namespace, Name: t.Scaler.Name, Target: timeline.TargetOf(t.Scaler.Spec),
		Timezone: t.Scaler.Calendar.Zone.String(), From: timeline.UTC(t.From), Until: timeline.UTC(t.Until), Paused: t.Scaler.Spec.Pause,
		Transitions: make([]timeline.TransitionJSON, 0, len(t.Transitions)), Days: make([]day, 0, len(t.Days)), ClockChanges: []change{},
		ReplicaHours: timeline.Hours(t.Seconds), Highest: t.Highest, AlwaysHighestReplicaHours: timeline.Hours(t.AlwaysHighest()),
		SavedReplicaHours: timeline.Hours(t.AlwaysHighest() - t.Seconds), Notes: append([]string{}, t.Scaler.Notes(zone)...),
	}
	if len(t.Segments) > 0 {
		s.ReplicasAtStart, s.WindowAtStart = t.Segments[0].Replicas, t.Segments[0].Window
	}
	for _, tr := range t.Transitions {
		s.Transitions = append(s.Transitions, tr.JSON(zone))
	}
	for _, d := range t.Days {
		s.Days = append(s.Days, day{d.Date, timeline.Hours(d.Seconds), d.Holiday, d.Change != nil})
	}
	for _, all := range [][]timeline.Change{t.Changes, t.Abroad} {
		for _, c := range all {
			s.ClockChanges = append(s.ClockChanges, change{
				timeline.UTC(c.Time), timeline.Local(c.Time), c.Time.Location().String(), c.Old().Format("-07:00"), c.Time.Format("-07:00"),
			})
		}
	}
	if t.Scaler.State != nil {
		s.State = stateOf(t.Scaler.State)
	}
	return s
}

func stateOf(status *v1beta1.TimeWindowScalerStatus) *state {
	s := state{
		EffectiveReplicas: status.EffectiveReplicas, ObservedReplicas: status.TargetObservedReplicas,
		CurrentWindow: status.CurrentWindow, Holiday: status.Holiday,
	}
	if status.GracePeriodExpiry != nil {
		s.GracePeriodExpiry = timeline.UTC(status.GracePeriodExpiry.Time)
	}
	return &s
}
