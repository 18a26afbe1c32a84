package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

func wanted(from string) store.Wanted {
	return store.Wanted{Workspace: types.NamespacedName{Namespace: "team", Name: "ann"}, UID: key.UID, From: from}
}

// TestFind: what a Workspace without an archive of its own begins with (W67, W68, W70).
func TestFind(t *testing.T) {
	folder := t.TempDir()
	s, _ := newStores(folder)
	find := func(from string, verdict lifecycle.Verdict, want string) {
		t.Helper()
		got, err := s.Find(t.Context(), name, wanted(from), now)
		if err != nil || got.Verdict != verdict || want != "" && got.Key != want {
			t.Errorf("from %q: %+v, %v, want %s %q", from, got, err, verdict, want)
		}
	}
	of := func(uid, opID, workspace string) archive.Key {
		t.Helper()
		key := archive.Key{UID: uid, OpID: opID}
		archivedBy(t, s, key, workspace)
		return key
	}
	const gone = "22222222-2222-4222-8222-222222222222"
	older, latest := of(gone, "11111111-1111-4111-8111-111111111111", "team/ann"), of(gone, "33333333-3333-4333-8333-333333333333", "team/ann")
	foreign := of("44444444-4444-4444-8444-444444444444", "11111111-1111-4111-8111-111111111111", "teams/ann")
	for _, from := range []string{"", "latest", "empty"} {
		find(from, lifecycle.Absent, "") // none was kept
	}
	for i, each := range []archive.Key{older, latest, foreign} {
		for range 2 { // a deletion repeats it
			if err := s.Keep(t.Context(), name, each.Data(), "ann"); err != nil {
				t.Fatal(err)
			}
		}
		at := now.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(folder, filepath.FromSlash(each.NameMark("team", "ann"))), at, at); err != nil {
			t.Fatal(err)
		}
	}
	find("", lifecycle.Verified, latest.Data())
	find("latest", lifecycle.Verified, latest.Data())
	find("empty", lifecycle.Absent, "")
	find(older.Data(), lifecycle.Verified, older.Data())
	find(foreign.Data(), lifecycle.NotOurs, "")
	find("archives/"+gone+"/44444444-4444-4444-8444-444444444444/home.tar.gz", lifecycle.Absent, "")
	if err := os.Truncate(filepath.Join(folder, filepath.FromSlash(latest.Data())), 3); err != nil {
		t.Fatal(err)
	}
	lost := func(from, wantOlder string) { // W100
		t.Helper()
		if got, err := s.Find(t.Context(), name, wanted(from), now); err != nil || got.Verdict != lifecycle.KeptLost || got.Key != latest.Data() || got.Older != wantOlder {
			t.Errorf("%+v, %v, want %s after %s", got, err, latest.Data(), wantOlder)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	lost("", older.Data())
	lost("latest", older.Data())
	find(latest.Data(), lifecycle.Absent, "")
	remove(latest.Marker())
	lost("", older.Data())
	remove(older.Data())
	lost("", "")
	remove(latest.Data())
	remove(latest.KeptMark())
	lost("", "") // its name proves that it was there
	if kept, err := s.Unname(t.Context(), name, "ann"); err != nil || len(kept) != 3 || kept[1] != latest {
		t.Errorf("%v, %v", kept, err)
	}
	find("", lifecycle.Absent, "")
	if kept, err := s.Unname(t.Context(), name, "ann"); err != nil || len(kept) != 0 {
		t.Errorf("%v, %v", kept, err)
	}
	archived(t, s, key) // its own one goes before all others
	find(foreign.Data(), lifecycle.Verified, key.Data())
	newer := of(key.UID, "55555555-5555-4555-8555-555555555555", "team/ann")
	later := time.Now().Add(time.Hour) // than the other, by the clock of the files
	if err := os.Chtimes(filepath.Join(folder, filepath.FromSlash(newer.Marker())), later, later); err != nil {
		t.Fatal(err)
	}
	find("", lifecycle.Verified, newer.Data())
	remove(newer.Data())
	find("", lifecycle.Corrupt, newer.Data()) // and not the older one
	remove(newer.Marker())
	find("", lifecycle.Verified, key.Data()) // what was never committed does not matter
}
