// Package api tests what an API server refuses, defaults, converts and stores. It checks the CustomResourceDefinitions
// with the API server's own code, and reads and writes TimeWindowScalers in both versions on a real API server, whose
// conversion webhook a real manager serves.
package api

import (
	"context"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	admin   client.Client
	// objects reads and writes without Go types, which could lose fields.
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
	s.AtEnd(func() error { return manager.Stop() }) // tests may replace it
	return nil
}

// controlled is the one namespace that the manager serves. In all others only the tests write.
const controlled = "api-controlled"

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

// in returns a client for the TimeWindowScalers of a namespace in one version.
func in(version, namespace string) dynamic.ResourceInterface {
	return objects.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: version, Resource: "timewindowscalers"}).Namespace(namespace)
}

func newNamespace(t *testing.T) string {
	t.Helper()
	return harness.NewT(t, cluster).NewNamespace("api-")
}

// warnings collects the warnings of the API server.
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

// about returns the warnings that contain a text.
func (w *warnings) about(part string) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.texts {
		if strings.Contains(text, part) {
			found = append(found, text)
		}
	}
	return found
}

// warned returns a client for v1alpha1 and the warnings that it gets.
func warned(t *testing.T, namespace string) (dynamic.ResourceInterface, *warnings) {
	t.Helper()
	received := &warnings{}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = received
	watched, err := dynamic.NewForConfig(config)
	harness.Must(t, err)
	return watched.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: "v1alpha1", Resource: "timewindowscalers"}).Namespace(namespace), received
}
