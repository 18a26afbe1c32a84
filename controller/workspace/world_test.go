package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/test/harness/ownwrites"
)

var (
	epoch = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	home  = types.NamespacedName{Namespace: "team", Name: "home"}
)

const storeName = "store"

// world is an API server with a kubelet and a Job controller, volumes that are folders, movers that move
// real bytes, and an object store that is a folder too.
type world struct {
	*testing.T
	server client.WithWatch // without injected faults
	faults *faults
	r      *Reconciler
	clock  *clocktesting.FakePassiveClock
	events *clientevents.FakeRecorder
	disks  string
	bucket string
	// hands off: what the kubelet leaves alone.
	keepPods, keepJobs bool
	// ended changes the result of a mover.
	ended func(*mover.Result)
	// wait is the RequeueAfter of the last pass.
	wait time.Duration
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{
		T: t, clock: clocktesting.NewFakePassiveClock(epoch), events: clientevents.NewFakeRecorder(1000),
		disks: t.TempDir(), bucket: t.TempDir(),
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: storeName, UID: "s1"}, Data: map[string][]byte{connect.Folder: []byte(w.bucket)},
	}
	shared := sharedParts()
	inner := fake.NewClientBuilder().WithScheme(shared.scheme).WithRESTMapper(shared.mapper).WithTypeConverters(shared.converter).WithObjects(append(objects, secret)...).
		WithStatusSubresource(&v1alpha1.Workspace{}, &corev1.Pod{}, &batchv1.Job{}, &corev1.PersistentVolumeClaim{}).
		WithIndex(&corev1.Pod{}, uidIndex, workspaceUID).WithIndex(&batchv1.Job{}, uidIndex, workspaceUID).Build()
	w.server = likeAServer(inner, w.clock)
	w.faults = &faults{}
	w.restart()
	return w
}

// restart makes a new reconciler, as after a crash.
func (w *world) restart() {
	mine := ownwrites.Guard(w.faults.over(w.server), func(what string) { w.Errorf("the reconciler must not %s", what) })
	w.r = &Reconciler{
		Client: mine, APIReader: w.server, Clock: w.clock, MoverImage: "kyklos:test", MoverResources: objects.DefaultMoverResources(), WatcherResources: objects.DefaultWatcherResources(),
		Store:        &store.Client{Secrets: w.server, Options: connect.Options{Folders: true, Endpoints: endpoints.Local}, Clock: w.clock},
		Events:       events.NewRecorder(w.events),
		Jitter:       func(time.Duration) time.Duration { return 0 },
		reservations: reservations{limits: DefaultLimits, cache: w.server, wake: func(...types.NamespacedName) {}},
	}
}

// aWorkspace is a Workspace that can be archived.
func aWorkspace(change ...func(*v1alpha1.Workspace)) *v1alpha1.Workspace {
	ws := &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: home.Namespace, Name: home.Name, UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", Generation: 1, CreationTimestamp: metav1.NewTime(epoch),
		},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState: v1alpha1.DesiredRunning, WorkspacePod: v1alpha1.WorkspacePod{Image: "ide:1"},
			Storage:        v1alpha1.WorkspaceStorage{Size: "1Gi", AccessMode: "ReadWriteOnce", MountPath: "/home/coder"},
			Archive:        &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: storeName}, Retain: 1},
			DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
	for _, c := range change {
		c(ws)
	}
	return ws
}

// workspace is the Workspace as it is stored; nil if it is gone.
func (w *world) workspace() *v1alpha1.Workspace {
	w.Helper()
	ws, err := get(w.Context(), w.server, home.Namespace, home.Name, &v1alpha1.Workspace{})
	if err != nil {
		w.Fatal(err)
	}
	return ws
}

// change writes the Workspace's spec or metadata, as a user does.
func (w *world) change(edit func(*v1alpha1.Workspace)) {
	w.Helper()
	ws := w.workspace()
	edit(ws)
	ws.Generation++
	if err := w.server.Update(w.Context(), ws); err != nil {
		w.Fatal(err)
	}
}

func (w *world) desire(state v1alpha1.DesiredState) {
	w.Helper()
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = state })
}

// pass runs one pass. After a failed pass the reconciler is restarted.
func (w *world) pass() error {
	w.Helper()
	result, err := w.r.Reconcile(context.WithoutCancel(w.Context()), reconcile.Request{NamespacedName: home})
	w.wait = result.RequeueAfter
	if err != nil {
		w.restart()
		w.wait = time.Second
	}
	return err
}

// converge reconciles until nothing changes any more.
func (w *world) converge() {
	w.Helper()
	for range 300 {
		before := w.faults.writes
		_ = w.pass()
		moved := w.nodes()
		if w.workspace() == nil {
			return
		}
		operation := w.workspace().Status.Operation
		if w.faults.writes == before && !moved && w.wait >= lifecycle.Poll/2 && operation != nil && operation.Type == v1alpha1.OperationNone {
			return
		}
		w.clock.SetTime(w.clock.Now().Add(max(w.wait.Truncate(time.Second), time.Second)))
	}
	w.Fatalf("it does not converge: %+v", w.workspace().Status)
}

// expectState checks status.displayState.
func (w *world) expectState(want string) {
	w.Helper()
	status := w.workspace().Status
	if status.DisplayState != want || status.Operation == nil || status.Operation.Type != v1alpha1.OperationNone {
		w.Errorf("the workspace is %s with %+v, want %s and no operation; error %+v", status.DisplayState, status.Operation, want, status.Error)
	}
}

// diskOf is where a claim's home is.
func (w *world) diskOf(claim *corev1.PersistentVolumeClaim) string {
	return filepath.Join(w.disks, string(claim.UID))
}

// write puts a file into the home, as the Pod's user does.
func (w *world) write(text string) {
	w.Helper()
	folder := filepath.Join(w.diskOf(w.pvc()), "home")
	if err := os.WriteFile(filepath.Join(folder, "work"), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// expectRunning reconciles until nothing changes, and checks that the Workspace runs with its files.
func (w *world) expectRunning() {
	w.Helper()
	w.converge()
	w.expectState("RUNNING")
	w.expectContent("work")
}

// expectContent checks what the user finds in the home.
func (w *world) expectContent(want string) {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.diskOf(w.pvc()), "home", "work"))
	if err != nil || string(got) != want {
		w.Errorf("the home holds %q, %v, want %q", got, err, want)
	}
}

// pvc is the home's PersistentVolumeClaim.
func (w *world) pvc() *corev1.PersistentVolumeClaim {
	w.Helper()
	claim, err := get(w.Context(), w.server, home.Namespace, "ws-home-home", &corev1.PersistentVolumeClaim{})
	if err != nil || claim == nil {
		w.Fatalf("no PersistentVolumeClaim: %v", err)
	}
	return claim
}

// has reports whether an object exists.
func (w *world) has(name string, object client.Object) bool {
	w.Helper()
	err := w.server.Get(w.Context(), types.NamespacedName{Namespace: home.Namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return err == nil
}

// newEvents returns the events since the last call.
func (w *world) newEvents() []string {
	var all []string
	for {
		select {
		case event := <-w.events.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

// archives lists the files in the store.
func (w *world) archives() []string {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.bucket, "archives", "*-*", "*", "*"))
	if err != nil {
		w.Fatal(fmt.Errorf("list the store: %w", err))
	}
	return names
}
