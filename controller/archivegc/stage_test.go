package archivegc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/events"
)

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}

// stage is a cluster whose Workspaces have one store.
type stage struct {
	fataler
	client.Client
	collector *Collector
	clock     *clocktesting.FakePassiveClock
	recorder  *toolsevents.FakeRecorder
	store     archive.Issuer
	// listed is called before each list of Workspaces, with how many there were in this cycle.
	listed func(n int) error
	lists  int
	// stepped is how far the clock was set forward in all; the rest of the time really passed.
	stepped time.Duration
	// date sets when an object was written; nil leaves it to the store.
	date  func(name string, at time.Time) error
	dated time.Time
}

func newStage(t fataler, secret map[string][]byte) *stage {
	t.Helper()
	s := &stage{fataler: t, clock: clocktesting.NewFakePassiveClock(time.Now()), recorder: toolsevents.NewFakeRecorder(99), dated: time.Unix(1e9, 0)}
	scheme := runtime.NewScheme()
	s.must(errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.Workspace{}).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-system", UID: "this-cluster"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "store"}, Data: secret},
	).Build()
	live := interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			s.lists++
			if s.listed != nil {
				if err := s.listed(s.lists); err != nil {
					return err
				}
			}
			return c.List(ctx, list, opts...)
		},
	})
	start := s.clock.Now()
	s.collector = &Collector{
		Options: Options{Clock: s.clock, Monotonic: func() time.Duration { return s.clock.Now().Sub(start) - s.stepped }, Interval: DefaultInterval, Namespace: "kyklos-system", Stores: connect.Options{Folders: true, Endpoints: endpoints.Local}},
		Live:    live, Open: connect.Open, Writer: s.Client, Events: events.NewRecorder(s.recorder), Log: logr.Discard(),
	}
	var err error
	s.store, err = connect.Open(secret, s.collector.Stores)
	s.must(err)
	if folder := string(secret[connect.Folder]); folder != "" {
		s.date = func(name string, at time.Time) error { return os.Chtimes(filepath.Join(folder, name), at, at) }
	}
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// workspace makes a Workspace in STANDBY without an archive.
func (s *stage) workspace(name string) *v1alpha1.Workspace {
	s.Helper()
	ws := &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(uuid.NewString())},
		Spec:       v1alpha1.WorkspaceSpec{Archive: &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}, Retain: 1}},
	}
	s.must(s.Create(s.Context(), ws))
	s.status(ws, func(status *v1alpha1.WorkspaceStatus) { status.Phase = "STANDBY" })
	return ws
}

func (s *stage) status(ws *v1alpha1.Workspace, change func(*v1alpha1.WorkspaceStatus)) {
	s.Helper()
	s.must(s.Get(s.Context(), client.ObjectKeyFromObject(ws), ws))
	change(&ws.Status)
	s.must(s.Status().Update(s.Context(), ws))
}

// archive stores an archive and marker of the Workspace with this uid, newer than all before, and returns its key.
func (s *stage) archive(uid types.UID) archive.Key {
	s.Helper()
	key, err := archive.NewKey(string(uid), uuid.NewString())
	s.must(err)
	marker := archive.Marker{
		SHA256: strings.Repeat("0", 64), Key: key.Data(), Size: 4, Tree: strings.Repeat("0", 64), Entries: 1, VolumeUID: "v", Workspace: "team/ann",
	}
	s.must(errors.Join(
		s.store.Put(s.Context(), key.Data(), []byte("data")), s.store.Put(s.Context(), key.Marker(), []byte(marker.String()))))
	if s.date != nil {
		s.dated = s.dated.Add(time.Second)
		s.must(errors.Join(s.date(key.Data(), s.dated), s.date(key.Marker(), s.dated)))
	}
	return key
}

// orphans stores archives of a Workspace that is gone.
func (s *stage) orphans(count int) (keys []archive.Key) {
	s.Helper()
	uid := types.UID(uuid.NewString())
	for range count {
		keys = append(keys, s.archive(uid))
	}
	return keys
}

// cycle runs one cycle, a while later. It returns the reasons of the events.
func (s *stage) cycle(after time.Duration) (reasons []string) {
	s.Helper()
	s.clock.SetTime(s.clock.Now().Add(after))
	s.lists = 0
	s.collector.Cycle(s.Context())
	return s.reasons()
}

// step sets the clock; no time passes.
func (s *stage) step(by time.Duration) {
	s.clock.SetTime(s.clock.Now().Add(by))
	s.stepped += by
}

func (s *stage) reasons() (reasons []string) {
	for {
		select {
		case text := <-s.recorder.Events:
			reasons = append(reasons, strings.Fields(text)[1])
		default:
			return reasons
		}
	}
}

// stored returns what is in the store, the owner's object left out.
func (s *stage) stored() (names []string) {
	s.Helper()
	for object, err := range s.store.List(s.Context(), "") {
		s.must(err)
		if object.Name != ownerName {
			names = append(names, object.Name)
		}
	}
	return names
}

// has reports whether an archive is complete.
func (s *stage) has(key archive.Key) bool {
	s.Helper()
	names := s.stored()
	return slices.Contains(names, key.Data()) && slices.Contains(names, key.Marker())
}

// ledger returns the ConfigMap, with a UID, which events need and a fake server does not give.
func (s *stage) ledger() *corev1.ConfigMap {
	s.Helper()
	object := &corev1.ConfigMap{}
	s.must(client.IgnoreNotFound(s.Get(s.Context(), client.ObjectKey{Namespace: "kyklos-system", Name: LedgerName}, object)))
	return object
}

// withLedger creates the ledger as the first cycle would, so that events are recorded from the start.
func (s *stage) withLedger() *stage {
	s.Helper()
	s.must(s.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kyklos-system", Name: LedgerName, UID: "book"}}))
	return s
}

func folder(t *testing.T) map[string][]byte {
	return map[string][]byte{connect.Folder: []byte(t.TempDir())}
}
