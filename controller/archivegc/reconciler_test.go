package archivegc

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/test/harness"
)

// allow annotates the ConfigMap as the event asks.
func (s *stage) allow(event string) {
	s.Helper()
	_, annotation, _ := strings.Cut(event, "--overwrite ")
	key, value, _ := strings.Cut(annotation, "=")
	object := s.ledger()
	object.Annotations = map[string]string{key: value}
	s.must(s.Update(s.Context(), object))
}

// note returns the note of an event about the store of a secret: DIR is the folder, and ID the store's in the approval.
func note(event string, secret map[string][]byte) string {
	text := strings.ReplaceAll(event, string(secret[connect.Folder]), "/DIR")
	_, text, _ = strings.Cut(text, " ") // the type
	_, text, _ = strings.Cut(text, " ") // the reason
	return regexp.MustCompile(`=[^=\s]+(:\d+)$`).ReplaceAllString(text, "=ID$1")
}

// More than half of all archives, and more than ten, are deleted only if a user has allowed it, and then once.
func TestMassDeletionNeedsApproval(t *testing.T) {
	secret := folder(t)
	s := newStage(t, secret).withLedger()
	ann := s.workspace("ann")
	needed := s.archive(ann.UID)
	s.status(ann, func(status *v1alpha1.WorkspaceStatus) { status.ArchiveKey = needed.Data() })
	s.orphans(11)
	s.cycle(0)
	s.cycle(2 * time.Hour)
	s.clock.SetTime(s.clock.Now().Add(2 * time.Hour))
	s.collector.Cycle(t.Context())
	event := <-s.recorder.Events
	if !strings.HasPrefix(event, "Warning ArchiveGCRefused ") || !strings.Contains(event, "11 of 12") || len(s.stored()) != 24 {
		t.Fatalf("%s; %d objects", event, len(s.stored()))
	}
	golden.NewMessages(t).Add("more than half", note(event, secret))
	s.allow(event)
	s.orphans(1) // one more is due only later, so the approval still matches
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchivesDeleted"}) || len(s.stored()) != 4 {
		t.Errorf("when it is allowed: %v, %d objects", reasons, len(s.stored()))
	}
	if annotation, ok := s.ledger().Annotations[AllowAnnotation]; ok {
		t.Errorf("the approval %s stays after it was used", annotation)
	}
	s.orphans(20)
	s.cycle(2 * time.Hour)
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveGCRefused"}) || len(s.stored()) != 42 {
		t.Errorf("the next time: %v, %d objects", reasons, len(s.stored())) // the one more went before, as one
	}
}

// Without any Workspace nothing is deleted, unless a user confirms that there are none.
func TestNoWorkspaceAtAll(t *testing.T) {
	secret := folder(t)
	s := newStage(t, secret).withLedger()
	ann := s.workspace("ann")
	s.orphans(2)
	s.cycle(0)
	s.must(s.Delete(t.Context(), ann))
	for range 2 {
		s.clock.SetTime(s.clock.Now().Add(2 * time.Hour))
		s.collector.Cycle(t.Context())
	}
	event := <-s.recorder.Events
	if !strings.HasPrefix(event, "Warning ArchiveGCRefused ") || len(s.stored()) != 4 {
		t.Fatalf("%s; %d objects", event, len(s.stored()))
	}
	golden.NewMessages(t).Add("no Workspaces", note(event, secret))
	s.allow(event)
	s.reasons()
	s.cycle(2 * time.Hour)
	s.cycle(2 * time.Hour)
	if len(s.stored()) > 0 || len(s.ledger().Data) > 0 {
		t.Errorf("stored: %v, remembered: %v", s.stored(), s.ledger().Data)
	}
}

// The store of a deleted Workspace is found in the ledger; without its Secret it is reported as
// lost, and in the end forgotten.
func TestTheStoreOfADeletedWorkspace(t *testing.T) {
	s := newStage(t, folder(t)).withLedger()
	s.must(s.Create(t.Context(), &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "else", Name: "where", UID: "w"}}))
	ann := s.workspace("ann")
	first := s.archive(ann.UID)
	s.cycle(0)
	s.must(s.Delete(t.Context(), ann))
	s.cycle(2 * time.Hour)
	s.cycle(2 * time.Hour)
	if s.has(first) || len(s.ledger().Data) > 0 {
		t.Fatalf("stored: %v, remembered: %v", s.stored(), s.ledger().Data)
	}

	ann = s.workspace("ann")
	second := s.orphans(1)[0]
	s.cycle(2 * time.Hour)
	s.must(s.Delete(t.Context(), ann))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "store"}}
	s.must(s.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	s.must(s.Delete(t.Context(), secret))
	s.reasons()
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveStoreLost"}) {
		t.Errorf("without its Secret: %v", reasons)
	}
	secret.ResourceVersion = ""
	s.must(s.Create(t.Context(), secret))
	s.cycle(2 * time.Hour)
	if !s.has(second) {
		t.Error("the two hours continued although no cycle ran")
	}
	if s.cycle(2 * time.Hour); s.has(second) {
		t.Error("the Secret is back, and the archive stays for ever")
	}
	s.workspace("ann")
	s.orphans(1)
	s.cycle(2 * time.Hour)
	s.must(s.Delete(t.Context(), secret))
	if s.cycle(forgetAfter + time.Minute); len(s.ledger().Data) > 0 {
		t.Errorf("remembered: %v", s.ledger().Data)
	}
}

// A leader that takes over continues where the last one was, from the ConfigMap.
func TestAnotherLeaderContinues(t *testing.T) {
	s := newStage(t, folder(t))
	s.workspace("ann")
	orphan := s.orphans(1)[0]
	s.cycle(0)
	started := s.clock.Now()
	next := *s.collector
	s.collector = &next
	if last := next.lastCycle(t.Context()); !last.Equal(started) {
		t.Errorf("the last cycle was at %v, want %v", last, started)
	}
	if s.cycle(2 * time.Hour); s.has(orphan) {
		t.Error("the two hours restarted")
	}
	// An unreadable entry starts again.
	object := s.ledger()
	for id := range object.Data {
		object.Data[id] = "{"
	}
	s.must(s.Update(t.Context(), object))
	orphan = s.orphans(1)[0]
	s.cycle(2 * time.Hour)
	if s.cycle(2*time.Hour - time.Second); !s.has(orphan) || s.ledger().Data == nil {
		t.Error("it is gone too early")
	}
}

// The same on a real S3 store: prefixes, expired credentials next to valid ones, uploads that
// were never finished, and an archive that the store refuses to delete.
func TestOnS3(t *testing.T) {
	t.Parallel()
	running, err := harness.StartObjectStore(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Stop() })
	secret := map[string][]byte{
		connect.Endpoint: []byte(running.Endpoint + "/"), connect.Bucket: []byte(running.Bucket), connect.Prefix: []byte("clusters/one"),
		connect.AccessKeyID: []byte(running.AccessKeyID), connect.SecretAccessKey: []byte(running.SecretAccessKey),
	}
	s := newStage(t, secret).withLedger()
	s.workspace("ann")
	expired := map[string][]byte{}
	for key, value := range secret {
		expired[key] = value
	}
	expired[connect.Prefix], expired[connect.SecretAccessKey] = []byte("clusters/one/"), []byte("expired")
	s.must(s.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "expired"}, Data: expired}))
	bob := s.workspace("bob")
	bob.Spec.Archive.StoreRef.Name = "expired"
	s.must(s.Update(t.Context(), bob))

	neighbour := newStage(t, withPrefix(secret, "clusters/one-more"))
	foreign := neighbour.orphans(1)[0]
	orphan := s.orphans(1)[0]
	begun, err := s.store.Issue(t.Context(), archive.Order{Key: orphan, MaxBytes: 1, Now: time.Now(), Valid: time.Hour})
	s.must(err)
	s.cycle(0)
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchivesDeleted"}) || s.has(orphan) || !neighbour.has(foreign) {
		t.Errorf("events %v, stored %v", reasons, s.stored())
	}
	s.clock.SetTime(s.clock.Now().Add(23 * time.Hour))
	for _, want := range []int{0, 1, 0} { // the upload is a day and an hour old, then three more, and then gone
		_, results, err := s.collector.cycle(t.Context())
		if s.must(err); len(results) != 1 || results[0].err != nil || results[0].aborted != want || begun.Upload == nil {
			t.Errorf("%+v, want %d upload to be ended", results, want)
		}
		s.clock.SetTime(s.clock.Now().Add(3 * time.Hour))
	}

	s.must(running.Stop())
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveGCFailed"}) {
		t.Errorf("while the store is away: %v", reasons)
	}
}

func withPrefix(secret map[string][]byte, prefix string) map[string][]byte {
	other := map[string][]byte{connect.Prefix: []byte(prefix)}
	for key, value := range secret {
		if key != connect.Prefix {
			other[key] = value
		}
	}
	return other
}

func TestOptions(t *testing.T) {
	for interval, valid := range map[time.Duration]bool{
		0: false, time.Minute - 1: false, time.Minute: true, DefaultInterval: true, 24 * time.Hour: true, 24*time.Hour + 1: false,
	} {
		if err := (Options{Interval: interval}).Validate(); (err == nil) != valid {
			t.Errorf("%s: %v", interval, err)
		}
	}
	err := Options{Interval: time.Second}.Validate()
	if err == nil {
		t.Fatal("a second is accepted")
	}
	golden.NewMessages(t).Add("--archive-gc-interval=1s", err.Error())
}
