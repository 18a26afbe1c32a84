package archives_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/archives"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

// TestList: the complete archives of one name, whichever Workspace of this name made them.
func TestList(t *testing.T) {
	store := filestore.New(t.TempDir())
	const digest = "0000000000000000000000000000000000000000000000000000000000000000"
	put := func(uid, workspace string) string {
		t.Helper()
		key := archive.Key{UID: uid, OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
		marker := archive.Marker{SHA256: digest, Key: key.Data(), Size: 4, Tree: digest, Entries: 1, VolumeUID: "v", Workspace: workspace}
		if err := store.Put(t.Context(), key.Marker(), []byte(marker.String())); err != nil {
			t.Fatal(err)
		}
		return key.Data()
	}
	gone, now := put("11111111-1111-4111-8111-111111111111", "team/ann"), put("22222222-2222-4222-8222-222222222222", "team/ann")
	put("33333333-3333-4333-8333-333333333333", "team/anna")
	put("44444444-4444-4444-8444-444444444444", "other/ann")
	kept, err := archive.ParseKey(gone)
	if err == nil {
		err = archive.Keep(t.Context(), store, kept, "team", "ann")
	}
	if err == nil { // one that is not complete
		err = store.Put(t.Context(), "archives/55555555-5555-4555-8555-555555555555/f47ac10b-58cc-4372-a567-0e02b2c3d479/home.tar.gz", []byte("torn"))
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := archives.List(t.Context(), store, "team", "ann")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, each := range found {
		got[each.Key] = each.Kept
		if each.SizeBytes != 4 || each.SHA256 != "sha256:"+digest || each.Time.IsZero() {
			t.Errorf("%+v", each)
		}
	}
	if diff := cmp.Diff(map[string]bool{gone: true, now: false}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := archives.List(t.Context(), filestore.New(t.TempDir()+"/missing"), "team", "ann"); err == nil {
		t.Error("a store that is missing has no archives")
	}
}
