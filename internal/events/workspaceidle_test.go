package events_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/golden"
)

func TestIdleEvents(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, test := range map[string]struct {
		to          string
		entered     bool
		since, last time.Time
		ttl         time.Duration
	}{
		"never a heartbeat":  {"STANDBY", true, start, time.Time{}, 5 * time.Minute},
		"a heartbeat":        {"STANDBY", true, start, start.Add(time.Hour), time.Minute},
		"one before":         {"PENDING", true, start, start.Add(-time.Hour), 24 * time.Hour},
		"it never got there": {"STANDBY", false, start, time.Time{}, 5 * time.Minute},
	} {
		ev := events.EmitWorkspaceIdle(test.to, test.entered, test.since, test.last, test.ttl)
		if ev.Reason != "WorkspaceIdle" || ev.Type != "Normal" {
			t.Errorf("%s: %+v", name, ev)
		}
		messages.Add(name, ev.Note)
	}
}
