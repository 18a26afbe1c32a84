package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/lifecycle"
)

func archiveOf(workspace, operation string, age time.Duration) lifecycle.Object {
	return lifecycle.Object{Key: lifecycle.ArchiveKey(workspace, operation), Committed: true, ModifiedAt: noon.Add(-age)}
}

// TestCollect: each archive has been an orphan for long, unless it is needed.
func TestCollect(t *testing.T) {
	key := lifecycle.ArchiveKey
	keeper := lifecycle.Reference{UID: "w", ArchiveKey: key("w", "now"), Operation: lifecycle.None, Retain: 1}
	recorded := archiveOf("w", "now", time.Minute)
	with := func(change func(*lifecycle.Reference)) lifecycle.Reference {
		k := keeper
		change(&k)
		return k
	}
	tests := []struct {
		name   string
		object lifecycle.Object
		keeper lifecycle.Reference
		victim bool
	}{
		{"an older one", archiveOf("w", "old", time.Hour), keeper, true},
		{"one without a marker", lifecycle.Object{Key: key("w", "torn")}, keeper, true},
		{"one of a Workspace that is gone", archiveOf("x", "old", time.Hour), keeper, true},
		{"left behind on purpose", lifecycle.Object{Key: key("x", "old"), Kept: true}, keeper, false},
		{"the recorded one", archiveOf("w", "now", time.Hour), keeper, false},
		{"D14: one that another has taken over", archiveOf("x", "old", time.Hour), with(func(k *lifecycle.Reference) { k.ArchiveKey = key("x", "old") }), false},
		{"W69: one that another is to begin with", archiveOf("x", "old", time.Hour), with(func(k *lifecycle.Reference) { k.Named = key("x", "old") }), false},
		{"one that is being made", archiveOf("w", "op", 0), with(func(k *lifecycle.Reference) { k.OperationID = "op" }), false},
		{"D14: while it restores", archiveOf("w", "old", time.Hour), with(func(k *lifecycle.Reference) { k.Operation = lifecycle.Restoring }), false},
		{"D14: in ERROR", archiveOf("w", "old", time.Hour), with(func(k *lifecycle.Reference) { k.Failed = true }), false},
		{"retained", archiveOf("w", "old", time.Hour), with(func(k *lifecycle.Reference) { k.Retain = 2 }), false},
		{"D14: a torn one is not retained", lifecycle.Object{Key: key("w", "torn")}, with(func(k *lifecycle.Reference) { k.Retain = 9 }), true},
		{"W63: newer than the recorded one", archiveOf("w", "new", time.Second), keeper, false},
		{"W63: as new as the recorded one", archiveOf("w", "new", time.Minute), keeper, false},
		{"W63: a newer one without a marker", lifecycle.Object{Key: key("w", "torn"), ModifiedAt: noon}, keeper, true},
		{"W63: while no archive is recorded", archiveOf("w", "new", time.Second), with(func(k *lifecycle.Reference) { k.ArchiveKey = "" }), false},
		{"not of our making", lifecycle.Object{Key: "archives/w/readme.txt"}, keeper, false},
		{"of another prefix", lifecycle.Object{Key: "backups/w/old/home.tar.gz"}, keeper, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := lifecycle.CollectInput{
				Now: noon, Objects: []lifecycle.Object{tt.object, recorded}, References: []lifecycle.Reference{tt.keeper}, Synced: true,
				FirstSeen: map[string]time.Time{tt.object.Key: noon.Add(-lifecycle.OrphanAge)},
			}
			if got := slices.Contains(lifecycle.Collect(in).Victims, tt.object.Key); got != tt.victim {
				t.Errorf("a victim: %t, want %t", got, tt.victim)
			}
			if got := lifecycle.StillOrphan(tt.object.Key, in.Objects, in.References); got != tt.victim && !tt.object.Kept {
				t.Errorf("still an orphan: %t, want %t", got, tt.victim)
			}
		})
	}
}

// TestCollectTakesTwoHours: if an archive is needed in between, the time starts again.
func TestCollectTakesTwoHours(t *testing.T) {
	orphan, newest, keeper := archiveOf("w", "old", time.Hour), archiveOf("w", "new", 0), lifecycle.Reference{UID: "w"}
	in := lifecycle.CollectInput{Now: noon, Objects: []lifecycle.Object{orphan, newest}, References: []lifecycle.Reference{keeper}, Synced: true}
	cycle := func(after time.Duration) int {
		in.Now = in.Now.Add(after)
		d := lifecycle.Collect(in)
		in.FirstSeen = d.FirstSeen
		return len(d.Victims)
	}
	if got := []int{cycle(0), cycle(lifecycle.OrphanAge - time.Second)}; !cmp.Equal(got, []int{0, 0}) {
		t.Errorf("victims before two hours: %v", got)
	}
	in.References[0].ArchiveKey = orphan.Key
	cycle(time.Second)
	in.References[0].ArchiveKey = ""
	if got := []int{cycle(time.Second), cycle(lifecycle.OrphanAge - time.Second), cycle(time.Second)}; !cmp.Equal(got, []int{0, 0, 1}) {
		t.Errorf("victims after an interruption: %v", got)
	}
	in.Now = noon.Add(-time.Hour)
	if got := cycle(0); got != 0 {
		t.Errorf("%d deletions when the clock is set back", got)
	}
}

// TestCollectRefuses: a cycle that knows too little, or would delete too much, deletes nothing.
func TestCollectRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		orphans, others := rapid.IntRange(0, 30).Draw(t, "orphans"), rapid.IntRange(0, 30).Draw(t, "others")
		in := lifecycle.CollectInput{
			Now: noon, Synced: rapid.IntRange(0, 4).Draw(t, "synced") > 0, FirstSeen: map[string]time.Time{},
			References: []lifecycle.Reference{{UID: "w", Failed: true}}[:rapid.IntRange(0, 1).Draw(t, "keepers")],
			Allowed:    rapid.SampledFrom([]int{0, 0, 5, 15, 30, 60}).Draw(t, "allowed"),
		}
		for i := range orphans + others {
			object := archiveOf("gone", fmt.Sprint(i), time.Hour)
			if i >= orphans {
				object = archiveOf("w", fmt.Sprint(i), time.Hour)
			}
			in.Objects = append(in.Objects, object)
			in.FirstSeen[object.Key] = noon.Add(-3 * time.Hour)
		}
		d := lifecycle.Collect(in)
		all := orphans + others
		due := orphans
		if len(in.References) == 0 {
			due = all // none of them is needed
		}
		want, victims := lifecycle.Refused(""), due
		switch {
		case !in.Synced:
			want, due = lifecycle.RefusedUnsynced, 0
		case len(in.References) == 0 && all > in.Allowed:
			want = lifecycle.RefusedNobody
		case due > 10 && due > all-due && due > in.Allowed:
			want = lifecycle.RefusedMass
		}
		if want != "" {
			victims = 0
		}
		if d.Refused != want || len(d.Victims) != victims || d.Due != due {
			t.Fatalf("refused %q, %d victims of %d due; want %q, %d of %d", d.Refused, len(d.Victims), d.Due, want, victims, due)
		}
	})
}

// TestCollectNaively: an engine that lists Workspaces before archives, and only once, deletes what was
// archived in between (D14); one that lists them again does not.
func TestCollectNaively(t *testing.T) {
	made, newer := archiveOf("w", "new", time.Second), archiveOf("w", "newer", 0)
	before := []lifecycle.Reference{{UID: "w"}}
	after := []lifecycle.Reference{{UID: "w", ArchiveKey: made.Key}}
	in := lifecycle.CollectInput{
		Now: noon, Objects: []lifecycle.Object{made, newer}, Synced: true,
		FirstSeen: map[string]time.Time{made.Key: noon.Add(-3 * time.Hour)}, // it was an orphan until it was taken over
	}
	if in.References = before; len(lifecycle.Collect(in).Victims) != 1 {
		t.Error("this case does not find the naive order")
	}
	if in.References = after; len(lifecycle.Collect(in).Victims) != 0 {
		t.Error("archives first, then Workspaces: it must not be deleted")
	}
	if lifecycle.StillOrphan(made.Key, in.Objects, after) {
		t.Error("the last check does not save it")
	}
}

// TestTheNewestArchiveIsKept (W63): of a Workspace that exists, the archive that was committed last is never deleted, whatever its
// status says and however often a cycle runs.
func TestTheNewestArchiveIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := lifecycle.CollectInput{Now: noon, Synced: true, FirstSeen: map[string]time.Time{}, Allowed: 99}
		last := map[string]time.Time{}
		for i := range rapid.IntRange(1, 12).Draw(t, "archives") {
			object := archiveOf(rapid.SampledFrom([]string{"v", "w"}).Draw(t, "of"), fmt.Sprint(i), time.Duration(rapid.IntRange(0, 9).Draw(t, "age"))*time.Hour)
			object.Committed = rapid.IntRange(0, 3).Draw(t, "committed") > 0
			in.Objects = append(in.Objects, object)
			in.FirstSeen[object.Key] = noon.Add(-lifecycle.OrphanAge)
			if uid := ownerOf(object); object.Committed && object.ModifiedAt.After(last[uid]) {
				last[uid] = object.ModifiedAt
			}
		}
		for _, uid := range []string{"v", "w"} {
			reference := lifecycle.Reference{UID: uid, Operation: lifecycle.None, Retain: rapid.IntRange(0, 3).Draw(t, "retain")}
			if rapid.Bool().Draw(t, "recorded") {
				reference.ArchiveKey = rapid.SampledFrom(in.Objects).Draw(t, "status").Key
			}
			in.References = append(in.References, reference)
		}
		victims := lifecycle.Collect(in).Victims
		for _, object := range in.Objects {
			gone := slices.Contains(victims, object.Key)
			if gone && object.Committed && object.ModifiedAt.Equal(last[ownerOf(object)]) {
				t.Fatalf("%s is deleted, the newest of its Workspace", object.Key)
			}
			if gone != lifecycle.StillOrphan(object.Key, in.Objects, in.References) {
				t.Fatalf("%s: the last check disagrees", object.Key)
			}
		}
	})
}

func ownerOf(object lifecycle.Object) string { return strings.Split(object.Key, "/")[1] }
