// Package api tests what an API server refuses, defaults, converts and stores. It checks the CustomResourceDefinitions
// with the API server's own code, and reads and writes TimeWindowScalers in both versions on a real API server, whose
// conversion webhook a real manager serves.
package api

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
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
func startManager(ctx context.Context, args ...string) (*harness.Manager, error) {
	started, err := cluster.StartManager(ctx, harness.ManagerOptions{
		WebhookPort: webhookPort, Args: append([]string{"--leader-elect=false", "--log-format=text", "--namespaces=" + controlled}, args...), Log: &managerLog,
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
