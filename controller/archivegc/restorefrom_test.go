package archivegc

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
)

// W69: an archive of a deleted Workspace is kept as long as another Workspace is to begin with it, also from the last moment on.
func TestAnArchiveThatAnotherIsToBeginWith(t *testing.T) {
	s := newStage(t, folder(t)).withLedger()
	s.workspace("ann")
	named := s.orphans(1)[0]
	s.cycle(0)
	listed := 0
	s.listed = func(n int) error {
		if listed = n; n == 3 { // before the last check
			twin := s.workspace("twin")
			twin.Spec.RestoreFrom = named.Data()
			s.must(s.Update(t.Context(), twin))
		}
		return nil
	}
	s.cycle(2 * time.Hour)
	s.listed = nil
	s.cycle(3 * time.Hour)
	if s.cycle(3 * time.Hour); !s.has(named) || listed < 3 {
		t.Errorf("it was deleted, after %d lists", listed)
	}
}

// An archive whose mark was removed goes, and with it what it is found by.
func TestTheNameOfAnArchiveGoesWithIt(t *testing.T) {
	s := newStage(t, folder(t)).withLedger()
	s.workspace("ann")
	key := s.orphans(1)[0]
	for _, name := range []string{"ann", "clone"} {
		s.must(archive.Keep(t.Context(), s.store, key, "team", name))
	}
	s.must(s.store.Delete(t.Context(), key.KeptMark()))
	for range 2 {
		if found, err := archive.Named(t.Context(), s.store, "team", "ann"); err != nil || len(found) != 1 || found[0] != key {
			t.Fatalf("%v, %v", found, err)
		}
		s.cycle(time.Hour)
	}
	s.cycle(time.Hour)
	for _, name := range []string{"ann", "clone"} {
		if found, err := archive.Named(t.Context(), s.store, "team", name); err != nil || len(found) > 0 || s.has(key) {
			t.Errorf("%v, %v lead to an archive that is there: %t", found, err, s.has(key))
		}
	}
}
