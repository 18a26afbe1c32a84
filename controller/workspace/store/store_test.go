package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
)

var (
	now  = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	name = types.NamespacedName{Namespace: "team", Name: "store"}
	key  = archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
)

// secrets is an API server that has only Secrets.
type secrets map[types.NamespacedName]map[string][]byte

func (s secrets) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	data, ok := s[key]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	*object.(*corev1.Secret) = corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "u", ResourceVersion: fmt.Sprint(data)}, Data: data}
	return nil
}

func (s secrets) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("listing Secrets is not allowed")
}

func newStores(folder string) (*store.Client, secrets) {
	known := secrets{name: {connect.Folder: []byte(folder)}}
	return &store.Client{Secrets: known, Options: connect.Options{Folders: true}, Clock: clocktesting.NewFakePassiveClock(now)}, known
}

// archived stores the archive of a small home in folder, under key.
func archived(t *testing.T, s *store.Client, key archive.Key) {
	t.Helper()
	archivedBy(t, s, key, "team/ann")
}

func archivedBy(t *testing.T, s *store.Client, key archive.Key, workspace string) {
	t.Helper()
	ticket, err := s.Issue(t.Context(), name, key.Data(), archive.Order{MaxBytes: 1 << 20, Attempt: "op/1", Now: now, Valid: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	volume := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(volume, "home"), 0o755), os.WriteFile(filepath.Join(volume, "home", "work"), []byte("work"), 0o644)); err != nil {
		t.Fatal(err)
	}
	store, of, err := mover.Open(ticket)
	if err != nil || of != key {
		t.Fatalf("the ticket is for %v, %v", of, err)
	}
	if _, err := mover.Archive(t.Context(), mover.Job{Store: store, Key: key, Volume: volume, VolumeUID: "v", Epoch: 3, Version: "test", Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(t.Context(), name, ticket); err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	folder := t.TempDir()
	s, _ := newStores(folder)
	verify := func(want lifecycle.Verdict) lifecycle.ArchiveView {
		t.Helper()
		view, err := s.Verify(t.Context(), name, "ann", key.Data(), now)
		if view.Verdict != want || (err == nil) != (want == lifecycle.Verified) || view.Key != key.Data() || view.Store != "file://"+folder+"/" {
			t.Errorf("%+v, %v, want %s", view, err, want)
		}
		return view
	}
	verify(lifecycle.Absent)
	archived(t, s, key)
	marker, err := archive.ReadMarker(t.Context(), filestore.New(folder), key)
	if err != nil {
		t.Fatal(err)
	}
	want := lifecycle.Archive{SHA256: marker.SHA256, Size: marker.Size, VolumeUID: "v", Epoch: 3, CompletedAt: now}
	if view := verify(lifecycle.Verified); view.Kept || view.Archive != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, view.Archive))
	}
	if err := s.Keep(t.Context(), name, key.Data(), "ann"); err != nil {
		t.Error(err)
	}
	if view := verify(lifecycle.Verified); !view.Kept {
		t.Error("the mark is not seen")
	}
	data := filepath.Join(folder, filepath.FromSlash(key.Data()))
	for _, damage := range []struct {
		do   func() error
		want lifecycle.Verdict
	}{
		{func() error { return os.Truncate(data, 5) }, lifecycle.Corrupt},
		{func() error { return os.Remove(data) }, lifecycle.Absent},
		{func() error { return os.Rename(folder, folder+".away") }, lifecycle.BucketMissing},
	} {
		if err := damage.do(); err != nil {
			t.Fatal(err)
		}
		verify(damage.want)
	}
}

func TestASecretThatIsMissingOrWrong(t *testing.T) {
	s, known := newStores(t.TempDir())
	if view, err := s.Verify(t.Context(), name, "ann", "archives/nonsense", now); view.Verdict != lifecycle.Corrupt || err == nil {
		t.Errorf("a key that is none: %+v, %v", view, err)
	}
	known[name] = map[string][]byte{"buckett": nil}
	for range 2 {
		view, err := s.Verify(t.Context(), name, "ann", key.Data(), now)
		if view.Verdict != lifecycle.StoreUnreachable || !errors.Is(err, store.ErrNotConfigured) || store.Code(err) != lifecycle.CodeArchiveNotConfigured {
			t.Errorf("%+v, %v", view, err)
		}
		delete(known, name)
	}
}

// A corrected Secret is used immediately.
func TestTheCurrentSecretIsUsed(t *testing.T) {
	s, known := newStores(filepath.Join(t.TempDir(), "missing"))
	if _, err := s.Verify(t.Context(), name, "ann", key.Data(), now); store.Code(err) != lifecycle.CodeBucketMissing {
		t.Error(err)
	}
	known[name] = map[string][]byte{connect.Folder: []byte(t.TempDir())}
	archived(t, s, key)
	if view, err := s.Verify(t.Context(), name, "ann", key.Data(), now); view.Verdict != lifecycle.Verified {
		t.Error(err)
	}
}

// A status can hold the address of most stores; for the others it holds none.
func TestAddressesAreBounded(t *testing.T) {
	s, known := newStores("/srv/" + strings.Repeat("a", 1024))
	for range 2 {
		view, _ := s.Verify(t.Context(), name, "ann", key.Data(), now)
		if view.Store != "" {
			t.Errorf("%+v", view)
		}
		known[name] = map[string][]byte{connect.Folder: []byte("/srv/\xff")}
	}
}

func TestNewest(t *testing.T) {
	folder := t.TempDir()
	s, _ := newStores(folder)
	newest := func(want string) {
		t.Helper()
		got, err := s.Find(t.Context(), name, wanted(""), now)
		verdict := map[bool]lifecycle.Verdict{false: lifecycle.Absent, true: lifecycle.Verified}[want != ""]
		if err != nil || got.Key != want || got.Verdict != verdict || (got.Archive.VolumeUID != "") != (want != "") || got.Store != "file://"+folder+"/" {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
	newest("")
	later, another := key, key
	later.OpID, another.UID = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	archived(t, s, another)
	newest("")
	archived(t, s, key)
	archived(t, s, later)
	for i, each := range []archive.Key{key, later} {
		at := now.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(folder, filepath.FromSlash(each.Marker())), at, at); err != nil {
			t.Fatal(err)
		}
	}
	newest(later.Data())
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	remove(later.Data())
	if got, err := s.Find(t.Context(), name, wanted(""), now); err != nil || got != (lifecycle.ArchiveView{Key: later.Data(), Verdict: lifecycle.Corrupt, Store: "file://" + folder + "/"}) {
		t.Errorf("it is damaged: %+v, %v, want it and nothing known of it, not the older one", got, err)
	}
	remove(later.Marker())
	newest(key.Data())
	remove(key.Marker())
	newest("") // an uncommitted object is not an archive
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Find(t.Context(), name, wanted(""), now); err == nil || got.Verdict != lifecycle.BucketMissing {
		t.Errorf("a bucket that is missing: %+v, %v", got, err)
	}
	missing := types.NamespacedName{Namespace: "team", Name: "missing"}
	if got, err := s.Find(t.Context(), missing, wanted(""), now); !errors.Is(err, store.ErrNotConfigured) || got.Verdict != lifecycle.NotConfigured {
		t.Errorf("no Secret: %+v, %v", got, err)
	}
}
