// Package conversion reads and writes TimeWindowScalers in both versions on a real API server, whose
// conversion webhook a real manager serves, and takes the webhook away.
package conversion

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits for what should happen at once; only a failing test takes it.
const patience = 90 * time.Second

var (
	cluster *harness.Cluster
	admin   client.Client
	// objects reads and writes as the API server speaks: nothing is lost in Go types.
	objects     dynamic.Interface
	webhookPort int
	manager     *harness.Manager
	managerLog  harness.Log
)

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	s.ShowOnFailure(&managerLog)
	if cluster, err = s.Start(ctx); err != nil {
		return err
	}
	if webhookPort, err = cluster.InstallOnFreePort(ctx); err != nil {
		return err
	}
	if admin, err = cluster.Client(); err != nil {
		return err
	}
	if objects, err = dynamic.NewForConfig(cluster.Config); err != nil {
		return err
	}
	if manager, err = startManager(ctx); err != nil {
		return err
	}
	s.AtEnd(func() error { return manager.Stop() }) // the one of then
	return nil
}

// controlled is the one namespace whose objects the controller works on: in all others nobody but the
// test writes.
const controlled = "conversion-controlled"

// startManager returns when the manager serves and the API server trusts it.
func startManager(ctx context.Context) (*harness.Manager, error) {
	started, err := cluster.StartManager(ctx, harness.ManagerOptions{
		WebhookPort: webhookPort, Args: []string{"--leader-elect=false", "--log-format=text", "--namespaces=" + controlled}, Log: &managerLog,
	})
	if err != nil {
		return nil, err
	}
	return started, started.AwaitReady(ctx)
}

// in is the TimeWindowScalers of a namespace in one version.
func in(version, namespace string) dynamic.ResourceInterface {
	return objects.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: version, Resource: "timewindowscalers"}).Namespace(namespace)
}

// newNamespace is deleted after the test.
func newNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conversion-"}}
	must(t, admin.Create(t.Context(), ns))
	t.Cleanup(func() { _ = admin.Delete(context.Background(), ns) })
	return ns.Name
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		t.Fatalf("never saw %s", what)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// warnings collects what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// about returns the warnings that contain a word.
func (w *warnings) about(word string) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.texts {
		if strings.Contains(text, word) {
			found = append(found, text)
		}
	}
	return found
}

// warned is the TimeWindowScalers of a namespace in v1alpha1, for a client that hears warnings.
func warned(t *testing.T, namespace string) (dynamic.ResourceInterface, *warnings) {
	t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = heard
	loud, err := dynamic.NewForConfig(config)
	must(t, err)
	return loud.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: "v1alpha1", Resource: "timewindowscalers"}).Namespace(namespace), heard
}
