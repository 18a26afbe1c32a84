package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// TestNext compares the table with a second copy of W17, for each current state, desired state and archive.
func TestNext(t *testing.T) {
	levels := []lifecycle.State{lifecycle.Pending, lifecycle.Standby, lifecycle.Running}
	for _, from := range append(levels, lifecycle.Failed, lifecycle.Deleting) {
		for _, to := range levels {
			for _, archived := range []bool{false, true} {
				want := lifecycle.None
				switch up, down := to.Level() > from.Level(), to.Level() < from.Level(); {
				case from.Level() < 0:
				case from == lifecycle.Pending && up && archived:
					want = lifecycle.Restoring
				case from == lifecycle.Pending && up:
					want = lifecycle.Provisioning
				case from == lifecycle.Standby && up:
					want = lifecycle.Starting
				case from == lifecycle.Standby && down:
					want = lifecycle.Archiving
				case down:
					want = lifecycle.Stopping
				}
				if got := lifecycle.Next(from, to, archived); got != want {
					t.Errorf("%s -> %s, archived %t: %s, want %s", from, to, archived, got, want)
				}
			}
		}
	}
}

// TestEdgesAreOneStep: no edge skips a level (W18), and each leads where its operation does.
func TestEdgesAreOneStep(t *testing.T) {
	to := map[lifecycle.OperationType]lifecycle.State{}
	for _, trait := range lifecycle.Traits() {
		to[trait.Operation] = trait.To
	}
	for _, edge := range lifecycle.Edges() {
		if step := edge.To.Level() - edge.From.Level(); step != 10 && step != -10 {
			t.Errorf("%s goes from %s to %s", edge.Operation, edge.From, edge.To)
		}
		if to[edge.Operation] != edge.To {
			t.Errorf("%s leads to %s and to %s", edge.Operation, edge.To, to[edge.Operation])
		}
	}
}

// TestLimits: W49.
func TestLimits(t *testing.T) {
	want := map[lifecycle.OperationType]time.Duration{
		lifecycle.Provisioning: 5, lifecycle.Restoring: 30, lifecycle.Archiving: 30, lifecycle.Starting: 5, lifecycle.Stopping: 5, lifecycle.Removing: 10,
	}
	for _, trait := range lifecycle.Traits() {
		if trait.Limit != want[trait.Operation]*time.Minute {
			t.Errorf("%s may take %s", trait.Operation, trait.Limit)
		}
		delete(want, trait.Operation)
	}
	if len(want) > 0 {
		t.Errorf("no trait for %v", want)
	}
}

// TestRulesAreDocumented: the documentation is generated from the rules.
func TestRulesAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range lifecycle.Rules() {
		if rule.Name == "" || rule.Guard == "" || rule.Result == "" || seen[rule.Name] {
			t.Errorf("rule %q lacks a text, or is listed twice", rule.Name)
		}
		seen[rule.Name] = true
	}
}
