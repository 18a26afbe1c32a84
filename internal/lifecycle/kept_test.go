package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// lostWhileDeleted is a history whose deletion finds that the archive to keep is not there.
func lostWhileDeleted(t *testing.T, policy lifecycle.DeletionPolicy, spoil func(*object)) *history {
	t.Helper()
	h := used(t)
	h.want(lifecycle.Pending)
	h.trace(t)
	spoil(h.objects[h.saved.ArchiveKey])
	h.damaged, h.excused = true, true
	h.ws.Deleting, h.ws.DeletionPolicy, h.rv = true, policy, h.rv+1
	h.log = nil
	return h
}

func isAway(o *object)    { o.away = true }
func isDamaged(o *object) { o.corrupt = true }

// reports are the losses that were written to the status.
func (h *history) reports() (codes []lifecycle.Code) {
	for _, step := range h.steps() {
		if code, written := strings.CutPrefix(step, "write "); written && (code == string(lifecycle.CodeArchiveLost) || code == string(lifecycle.CodeArchiveCorrupt)) {
			codes = append(codes, lifecycle.Code(code))
		}
	}
	return codes
}

// TestADeletionWaitsForALostArchive, for any time: it says so once, and continues when the archive is back or a person gives it
// up (W99).
func TestADeletionWaitsForALostArchive(t *testing.T) {
	for code, spoil := range map[lifecycle.Code]func(*object){lifecycle.CodeArchiveLost: isAway, lifecycle.CodeArchiveCorrupt: isDamaged} {
		for _, policy := range []lifecycle.DeletionPolicy{lifecycle.ArchiveHome, lifecycle.RetainHome} {
			for end, help := range map[string]func(*history){
				"it is back": func(h *history) {
					o := h.objects[h.saved.ArchiveKey]
					o.away, o.corrupt = false, false
				},
				"its loss is accepted":    func(h *history) { h.ws.AcceptedLoss = h.saved.ArchiveKey },
				"the home is not to stay": func(h *history) { h.ws.DeletionPolicy = lifecycle.DeleteHome },
			} {
				h := lostWhileDeleted(t, policy, spoil)
				last := h.decides(20)
				is := func(status lifecycle.Truth) lifecycle.Condition {
					return lifecycle.Condition{Status: status, Reason: code}
				}
				c := last.Conditions
				if got := h.reports(); h.gone || !slices.Equal(got, []lifecycle.Code{code}) || c.Stalled != is(lifecycle.True) || c.Ready != is(lifecycle.False) || c.ArchiveReady != is(lifecycle.False) {
					t.Fatalf("%s, %s: gone %t, reported %q, %+v", policy, code, h.gone, got, c)
				}
				help(h)
				h.rv++
				h.ws.Generation++
				h.trace(t)
				_, named := h.names[h.saved.ArchiveKey]
				if kept := h.objects[h.saved.ArchiveKey].kept; !h.gone || kept != (end == "it is back") || named != kept {
					t.Errorf("%s, %s, %s: gone %t, kept %t, named %t", policy, code, end, h.gone, kept, named)
				}
			}
		}
	}
}

// TestADeletionThatDoesNotWait: the namespace goes, or the home stays on its volume. The loss is reported once. Without a home to keep
// it does not matter.
func TestADeletionThatDoesNotWait(t *testing.T) {
	going := lostWhileDeleted(t, lifecycle.ArchiveHome, isAway)
	going.ws.NamespaceTerminating = true
	retained := used(t)
	retained.want(lifecycle.Pending)
	retained.trace(t)
	retained.want(lifecycle.Running)
	retained.trace(t)
	retained.objects[retained.saved.ArchiveKey].away, retained.damaged = true, true
	retained.ws.Deleting, retained.ws.DeletionPolicy, retained.rv, retained.log = true, lifecycle.RetainHome, retained.rv+1, nil
	for name, h := range map[string]*history{"the namespace goes": going, "the volume stays": retained, "nothing is kept": lostWhileDeleted(t, lifecycle.DeleteHome, isAway)} {
		h.trace(t)
		want := 1
		if h.ws.DeletionPolicy == lifecycle.DeleteHome {
			want = 0
		}
		if got := h.reports(); !h.gone || len(got) != want {
			t.Errorf("%s: gone %t, reported %q", name, h.gone, got)
		}
	}
	if retained.vol == nil || !retained.vol.release {
		t.Error("the volume is not left behind")
	}
}

// TestUnname: only a deletion with its home ends what is found by the name, and only of a home that began with it (W101).
func TestUnname(t *testing.T) {
	for _, policy := range []lifecycle.DeletionPolicy{lifecycle.DeleteHome, lifecycle.ArchiveHome, lifecycle.RetainHome} {
		for _, from := range []string{"", lifecycle.FromLatest, lifecycle.FromNothing, "archives/w0/old/home.tar.gz"} {
			for _, store := range []bool{true, false} {
				in := at(inOperation(lifecycle.Removing, 0), volumeIs(lifecycle.VolumeAbsent))
				in.Workspace.Deleting, in.Workspace.DeletionPolicy, in.Workspace.RestoreFrom, in.Workspace.HasStore = true, policy, from, store
				act := lifecycle.Decide(in).Act
				want := policy == lifecycle.DeleteHome && store && (from == "" || from == lifecycle.FromLatest)
				if act.Kind != lifecycle.ActRemoveFinalizer || act.Unname != want {
					t.Errorf("%s from %q, with a store %t: %+v", policy, from, store, act)
				}
			}
		}
	}
}
