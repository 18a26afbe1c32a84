package events_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/events"
)

func TestIdleEvents(t *testing.T) {
	for _, test := range []struct {
		to          string
		since, last time.Time
		ttl         time.Duration
		want        string
	}{
		{"STANDBY", start, time.Time{}, 5 * time.Minute, "No heartbeat since it entered RUNNING (2025-01-27T09:00:00Z), and spec.standbyTTLSeconds is 300: spec.desiredState becomes STANDBY; the home stays on its volume; set spec.desiredState to RUNNING to continue"},
		{"STANDBY", start, start.Add(time.Hour), time.Minute, "No heartbeat since 2025-01-27T10:00:00Z, and spec.standbyTTLSeconds is 60: spec.desiredState becomes STANDBY; the home stays on its volume; set spec.desiredState to RUNNING to continue"},
		{"PENDING", start, start.Add(-time.Hour), 24 * time.Hour, "No heartbeat since it entered STANDBY (2025-01-27T09:00:00Z), and spec.archiveTTLSeconds is 86400: spec.desiredState becomes PENDING; the home is archived and its volume then deleted; set spec.desiredState to RUNNING to restore it"},
	} {
		ev := events.EmitWorkspaceIdle(test.to, test.since, test.last, test.ttl)
		if ev.Note != test.want || ev.Reason != "WorkspaceIdle" || ev.Type != "Normal" {
			t.Errorf("%s: %s %q, want %q", ev.Type, ev.Reason, ev.Note, test.want)
		}
	}
}
