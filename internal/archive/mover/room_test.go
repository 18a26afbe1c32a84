package mover

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive/filestore"
)

// W64: a home that would not fit its volume after a restore is not archived, so its volume is not deleted.
func TestAHomeThatWouldNotFitIsNotArchived(t *testing.T) {
	job := archiving(filestore.New(t.TempDir()), volume(t, someHome))
	var capacity int64
	job.capacity = func(string) (int64, error) { return capacity, nil }
	for range 2 { // the second one finds the data of the first one
		capacity = 500 << 10
		_, err := Archive(t.Context(), job)
		if codeOf(err) != HomeTooLarge || !strings.Contains(err.Error(), "nothing was deleted") {
			t.Fatalf("%v, want %s", err, HomeTooLarge)
		}
	}
	if _, err := job.Store.Head(t.Context(), key.Marker()); err == nil {
		t.Error("it has a marker")
	}
	capacity = 520 << 10 // two folders, and files of 4 KiB, 4 KiB and 492 KiB
	if _, err := Archive(t.Context(), job); err != nil {
		t.Error(err)
	}
	committed(t, job.Store, tree(t, job.Volume))
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		need, capacity int64
		fits           bool
	}{{0, 1, true}, {5, 5, true}, {6, 5, false}, {6, 0, true}, {1 << 40, 1 << 39, false}} {
		if err := fits(test.need, test.capacity); (err == nil) != test.fits {
			t.Errorf("%d bytes on %d: %v", test.need, test.capacity, err)
		}
	}
	if capacity, err := capacityOf(t.TempDir()); err != nil || capacity <= 0 {
		t.Errorf("this file system has %d bytes, %v", capacity, err)
	}
	if _, err := capacityOf("/nowhere/at/all"); err == nil {
		t.Error("a volume that does not exist has a capacity")
	}
}
