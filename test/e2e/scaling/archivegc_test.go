package scaling

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/archivegc"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/test/harness"
)

// W48: one leader finds an archive without a Workspace and records it. The next leader deletes it two hours later, with
// the shipped permissions.
func TestUnneededArchiveIsDeleted(t *testing.T) {
	s := newIdleScenario(t, "STANDBY")
	folder := t.TempDir()
	store := filestore.New(folder)
	s.Must(s.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ann.Namespace, Name: "store"}, StringData: map[string]string{"folder": folder}}))
	key := archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
	s.Must(store.Put(t.Context(), key.Data(), []byte("data")))
	book := client.ObjectKey{Namespace: harness.SystemNamespace, Name: archivegc.LedgerName}
	clock := clocktesting.NewFakePassiveClock(time.Now())
	lead := func() (stop func()) {
		return s.manage(func(mgr ctrl.Manager) error {
			return archivegc.SetupWithManager(mgr, archivegc.Options{
				Clock: clock, Interval: archivegc.DefaultInterval, Namespace: book.Namespace, Stores: connect.Options{Folders: true},
			})
		})
	}
	stop := lead()
	s.Until("what is remembered", func() bool { return s.Client.Get(t.Context(), book, &corev1.ConfigMap{}) == nil })
	stop()
	if _, err := store.Head(t.Context(), key.Data()); err != nil {
		t.Fatalf("too early: %v", err)
	}
	clock.SetTime(clock.Now().Add(2 * time.Hour))
	defer lead()()
	s.Until("the deletion", func() bool {
		_, err := store.Head(t.Context(), key.Data())
		return errors.Is(err, archive.ErrNotFound)
	})
	s.awaitEvent(book.Namespace, events.ReasonArchivesDeleted, "Deleted 1 archives that no Workspace needed; 0 are left in file://"+folder)
}
