package workspaceidle

import (
	"slices"
	"testing"
	"time"
)

func TestPollsAreSpread(t *testing.T) {
	var spread []time.Duration
	for _, uid := range []string{"a", "b", "c", "d"} {
		spread = append(spread, jitter(uid))
	}
	if slices.Sort(spread); spread[0] < 0 || spread[0] == spread[3] || spread[3] >= 6*time.Second {
		t.Errorf("%v", spread)
	}
}
