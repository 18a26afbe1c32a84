package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/lifecycle"
)

// quiet is a history in which only the controller acts.
func quiet(decide engine) *history { return newHistory(decide, func(int) int { return 0 }) }

// trace runs until the Workspace is at rest, and returns the states and operations on the way.
func (h *history) trace(t *testing.T) []string {
	t.Helper()
	var steps []string
	note := func() {
		if step := string(h.saved.Phase) + "/" + string(h.saved.Operation.Type); len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
	}
	for range 100 {
		if h.controllers[0].decide(h.world, h.snapshot()); h.gone || h.atRest() {
			if h.wrong != "" {
				t.Fatal(h.wrong, h.transcript())
			}
			return steps
		}
		h.progress()
		h.now = h.now.Add(2 * time.Second)
		note()
	}
	t.Fatal("it does not converge", h.transcript())
	return nil
}

// TestScenarios runs the scenarios W34-W38.
func TestScenarios(t *testing.T) {
	up := []string{"PENDING/NONE", "PENDING/PROVISIONING", "STANDBY/NONE", "STANDBY/STARTING", "RUNNING/NONE"}
	down := []string{"RUNNING/STOPPING", "STANDBY/NONE", "STANDBY/ARCHIVING", "PENDING/NONE"}
	back := []string{"PENDING/RESTORING", "STANDBY/NONE", "STANDBY/STARTING", "RUNNING/NONE"}
	h := quiet(lifecycle.Decide)
	expectTrace := func(name string, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, h.trace(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	expectTrace("W34: a new Workspace", up)
	h.write()

	h.want(lifecycle.Pending)
	expectTrace("W18: two steps down", down)
	if h.vol != nil || h.saved.ArchiveKey == "" || h.saved.Operation.ID != "" || h.saved.Archive.Epoch != 1 {
		t.Errorf("W23, W29: the volume is not gone for an archive: %s", h.transcript())
	}

	h.want(lifecycle.Running)
	expectTrace("W35: out of the archive", back)
	if h.vol.version != 1 || h.saved.Volume.Content != lifecycle.Restored {
		t.Errorf("W35: not the version that was archived: %s", h.transcript())
	}

	h.now = h.now.Add(time.Hour)
	h.pod.state = lifecycle.PodEnded
	expectTrace("W36: the Pod dies", []string{"STANDBY/NONE", "STANDBY/STARTING", "RUNNING/NONE"})

	h.want(lifecycle.Standby)
	expectTrace("one step down", down[:2])
	h.now = h.now.Add(25 * time.Hour)
	idle := lifecycle.DecideIdle(lifecycle.IdleInput{Now: h.now, Desired: h.ws.Desired, Status: h.saved, HasStore: true, ArchiveTTL: 24 * time.Hour})
	h.want(idle.Desired)
	expectTrace("W37: idle in STANDBY", down[2:])

	h.want(lifecycle.Standby)
	expectTrace("W35: only to STANDBY", back[:2])
	h.want(lifecycle.Running)
	h.controllers[0].decide(h.world, h.snapshot())
	h.controllers[0].commit(h.world)
	h.controllers[0] = controller{name: "another", engine: lifecycle.Decide} // a crash after the claim
	expectTrace("W38: after a crash", []string{"STANDBY/STARTING", "RUNNING/NONE"})

	h.ws.Deleting = true
	expectTrace("W24: deletion", []string{"DELETING/DELETING"})
	if h.vol != nil || h.pod != nil || !h.gone {
		t.Errorf("W24: something is left: %s", h.transcript())
	}
}

// TestDeletionPolicies: what is left of a home.
func TestDeletionPolicies(t *testing.T) {
	tests := []struct {
		name            string
		policy          lifecycle.DeletionPolicy
		terminating     bool
		volume, archive bool
	}{
		{"Delete", lifecycle.DeleteHome, false, false, false},
		{"ArchiveThenDelete", lifecycle.ArchiveHome, false, false, true},
		{"D24: ArchiveThenDelete in a terminating namespace", lifecycle.ArchiveHome, true, false, false},
		{"Retain", lifecycle.RetainHome, false, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := quiet(lifecycle.Decide)
			h.trace(t)
			h.write()
			h.ws.Deleting, h.ws.DeletionPolicy, h.ws.NamespaceTerminating = true, tt.policy, tt.terminating
			h.rv++
			h.trace(t)
			for range 4 {
				h.now = h.now.Add(3 * time.Hour)
				h.firstSeen = h.collect(h.firstSeen)
			}
			kept := 0
			for _, object := range h.objects {
				if object.kept && object.version == 1 {
					kept++
				}
			}
			if !h.gone || h.pod != nil || (h.vol != nil) != tt.volume || (kept == 1) != tt.archive {
				t.Errorf("gone %t, volume %v, %d archives; want volume %t, archive %t", h.gone, h.vol, kept, tt.volume, tt.archive)
			}
			if tt.volume && !h.vol.release {
				t.Error("the volume is still deleted with its owner")
			}
		})
	}
}
