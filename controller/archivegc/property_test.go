package archivegc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
)

// life is what an independent model knows about one archive.
type archiveModel struct {
	key archive.Key
	// the cycle since which it has not been needed, zero if it was needed in the last one.
	since time.Time
}

// Whatever happens between cycles, and whichever of them fail: no archive is deleted that is needed, or was
// needed in a cycle less than two hours ago; and one that is not needed is deleted after three successful cycles in a row.
func TestNeededArchivesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, map[string][]byte{connect.Folder: []byte("/in/memory")})
		inMemory(s)
		s.collector.Interval = time.Hour
		names := []*v1alpha1.Workspace{s.workspace("ann"), s.workspace("bob")}
		var archives []*archiveModel
		for range rapid.IntRange(5, 25).Draw(t, "steps") {
			ws := rapid.SampledFrom(names).Draw(t, "workspace")
			switch rapid.SampledFrom([]string{"archive", "record", "claim", "fail", "recover", "cycle", "cycle", "cycle"}).Draw(t, "step") {
			case "archive":
				if len(archives) < 8 { // fewer than eleven are never too many
					archives = append(archives, &archiveModel{key: s.archive(ws.UID)})
				}
			case "record":
				if len(archives) > 0 {
					one := rapid.SampledFrom(archives).Draw(t, "of")
					s.status(ws, func(status *v1alpha1.WorkspaceStatus) { status.ArchiveKey = one.key.Data() })
				}
			case "claim":
				if len(archives) > 0 {
					one := rapid.SampledFrom(archives).Draw(t, "of")
					kind := rapid.SampledFrom([]v1alpha1.OperationType{v1alpha1.OperationArchiving, v1alpha1.OperationRestoring}).Draw(t, "kind")
					s.status(ws, func(status *v1alpha1.WorkspaceStatus) {
						status.Operation = &v1alpha1.Operation{Type: kind, ID: one.key.OpID}
					})
				}
			case "fail":
				s.status(ws, func(status *v1alpha1.WorkspaceStatus) { status.Phase, status.Operation = v1alpha1.PhaseError, nil })
			case "recover":
				s.status(ws, func(status *v1alpha1.WorkspaceStatus) {
					*status = v1alpha1.WorkspaceStatus{Phase: "STANDBY"}
				})
			case "cycle":
				after := time.Duration(rapid.IntRange(1, 100).Draw(t, "minutes")) * time.Minute
				fails := rapid.IntRange(0, 7).Draw(t, "failing list")
				archives = checkCycle(t, s, names, archives, after, fails)
			}
		}
		for range 3 {
			archives = checkCycle(t, s, names, archives, time.Hour, 0)
		}
		for _, one := range archives {
			if !needed(s, names, archives, one.key) {
				t.Fatalf("%s stays, and is not needed since %v", one.key, one.since)
			}
		}
	})
}

// checkCycle runs a cycle whose n-th list fails, and compares it with the model.
func checkCycle(t *rapid.T, s *stage, workspaces []*v1alpha1.Workspace, archives []*archiveModel, after time.Duration, n int) (left []*archiveModel) {
	for _, one := range archives {
		if needed(s, workspaces, archives, one.key) {
			one.since = time.Time{}
		} else if one.since.IsZero() {
			one.since = s.clock.Now().Add(after)
		}
	}
	s.failing(n, errors.New("no answer"))
	s.cycle(after)
	now := s.clock.Now()
	for _, one := range archives {
		if s.has(one.key) {
			left = append(left, one)
		} else if one.since.IsZero() || now.Sub(one.since) < 2*time.Hour {
			t.Fatalf("%s is gone at %v; not needed since %v", one.key, now, one.since)
		}
	}
	return left
}

// needed is the rule as the model has it. The archives are in the order in which they were made.
func needed(s *stage, workspaces []*v1alpha1.Workspace, archives []*archiveModel, key archive.Key) bool {
	newest := map[string]archive.Key{}
	for _, one := range archives {
		newest[one.key.UID] = one.key
	}
	return slices.ContainsFunc(workspaces, func(ws *v1alpha1.Workspace) bool {
		s.status(ws, func(*v1alpha1.WorkspaceStatus) {})
		own := string(ws.UID) == key.UID
		operation := ws.Status.Operation
		return ws.Status.ArchiveKey == key.Data() ||
			own && newest[key.UID] == key || own && (ws.Status.Phase == "ERROR" || operation != nil && (operation.Type == "RESTORING" || operation.ID == key.OpID))
	})
}

// A ledger that was written is read back unchanged, as long as there is room; beyond that the latest entries are dropped.
func TestTheLedgerRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]time.Time{}
		start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		var keys []string
		for i := range rapid.IntRange(0, 40).Draw(t, "orphans") {
			keys = append(keys, fmt.Sprintf("archives/w/%d/home.tar.gz", i))
			if rapid.Bool().Draw(t, "orphan") {
				seen[keys[i]] = start.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "cycle")) * time.Microsecond)
			}
		}
		e := entry{LookedAt: start, Orphans: orphansOf(seen)}
		stores := map[string]entry{"one": e}
		truncate(stores)
		if diff := cmp.Diff(seen, stores["one"].firstSeen(keys, time.Hour, start.Add(90*time.Minute))); diff != "" {
			t.Fatal(diff)
		}
		for _, now := range []time.Time{start.Add(-1), start.Add(90*time.Minute + 1)} {
			if got := e.firstSeen(keys, time.Hour, now); len(got) > 0 {
				t.Fatalf("at %v: %v", now, got)
			}
		}
	})
	many := map[string]entry{
		"a": {Orphans: map[string][]string{"2026-03-02T12:00:00.000001Z": make([]string, maxOrphans-1), "2026-03-02T12:00:00.000002Z": make([]string, 5)}},
		"b": {Orphans: map[string][]string{"2026-03-02T12:00:00.000000Z": make([]string, 5)}},
	}
	truncate(many)
	got := []int{len(many["a"].Orphans["2026-03-02T12:00:00.000001Z"]), len(many["a"].Orphans["2026-03-02T12:00:00.000002Z"]), len(many["b"].Orphans["2026-03-02T12:00:00.000000Z"])}
	if !slices.Equal(got, []int{maxOrphans - 5, 0, 5}) { // the smallest store is kept whole
		t.Errorf("%v", got)
	}
}

func TestApprovals(t *testing.T) {
	if diff := cmp.Diff(map[string]int{"a1": 12, "b2": 3}, approvals("a1:12, b2:3,c3,d4:,e5:-1,f6:many")); diff != "" {
		t.Error(diff)
	}
	object := &corev1.ConfigMap{}
	removeApproval(object, "a1")
	object.Annotations = map[string]string{AllowAnnotation: approval("a1", 12) + ", " + approval("b2", 3)}
	removeApproval(object, "a1")
	if got := object.Annotations[AllowAnnotation]; strings.TrimSpace(got) != "b2:3" {
		t.Errorf("%q is left", got)
	}
	removeApproval(object, "b2")
	if len(object.Annotations) > 0 {
		t.Errorf("%v is left", object.Annotations)
	}
}
