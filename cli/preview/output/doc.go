// Package output writes timelines: as a table for people, as JSON for programs and as events for calendars. It is pure.
package output

import (
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// Options are how timelines are shown.
type Options struct {
	// Zone is the one that local times are shown in; nil is each schedule's own. Days are always those of the schedule.
	Zone *time.Location
	// Colours is for terminals.
	Colours bool
}

func (o Options) zone(t *timeline.Timeline) *time.Location {
	if o.Zone != nil {
		return o.Zone
	}
	return t.Scaler.Calendar.Zone
}

const secondsPerHour = 3600

// hours are replica-hours of a sum of replicas times seconds.
func hours(seconds int64) float64 { return float64(seconds) / secondsPerHour }
