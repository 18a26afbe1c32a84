package newest

import (
	"testing"
)

// Etcd was restored, and versions moved back. The API server's answer counts although its version is lower, and the cache's higher
// versions do not, because they may be from before.
func TestVersionsMoveBack(t *testing.T) {
	var o Object[string]
	r := &reads{cache: "a@10"}
	r.read(t, &o, 0)
	o.Doubt()
	for i, step := range []struct {
		cache, server, want string
		asked               int
	}{
		{"a@10", "a@3", "a@3 asked", 1},
		{"a@10", "a@3", "a@3 asked", 2},
		{"a@10", "a@4", "a@4 asked", 3},
		{"a@3", "!", "a@4 asked", 3},
		{"a@5", "a@5", "a@5 asked", 4}, // it could still be from before
		{"a@5", "!", "a@5 cached", 4},
		{"a@6", "!", "a@6 cached", 4},
	} {
		r.cache, r.server = step.cache, step.server
		if got := r.read(t, &o, 0); got != step.want || r.asked != step.asked {
			t.Errorf("step %d: %q after asking %d times, want %q after %d", i, got, r.asked, step.want, step.asked)
		}
	}
}
