package workspaceidle

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// note returns the note of the next event, which is to be about an idle Workspace.
func (s *stage) note() string {
	s.Helper()
	event := <-s.events.Events
	note, ok := strings.CutPrefix(event, "Normal WorkspaceIdle ")
	if !ok {
		s.Errorf("another event: %s", event)
	}
	return note
}

func TestPollsAreSpread(t *testing.T) {
	var spread []time.Duration
	for _, uid := range []string{"a", "b", "c", "d"} {
		spread = append(spread, jitter(uid))
	}
	if slices.Sort(spread); spread[0] < 0 || spread[0] == spread[3] || spread[3] >= 6*time.Second {
		t.Errorf("%v", spread)
	}
}
