// Package integration runs the real manager process against a real API server: what it refuses,
// how many requests it sends, and what is left when it or the API server is killed at any point.
package integration

import (
	"context"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	// admin is the tests' own client.
	admin client.Client
	// webhookPort is where the webhook configurations point.
	webhookPort int
	// movable is a manager whose clock tests can step; see movedClock.
	movable string
)

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	movable = filepath.Join(s.Dir, "kyklos-movable")
	if err := harness.BuildMovable(ctx, movable); err != nil {
		return err
	}
	if cluster, err = s.Start(ctx, harness.ExternalMetrics, harness.AuditLog); err != nil {
		return err
	}
	if err := prepareCluster(ctx); err != nil {
		return err
	}
	s.AtEnd(cluster.NothingForbidden)
	return nil
}

// prepareCluster installs Kyklos on cluster and makes the clients for it.
func prepareCluster(ctx context.Context) (err error) {
	if webhookPort, err = cluster.InstallOnFreePort(ctx); err != nil {
		return err
	}
	admin, err = cluster.Client()
	return err
}

// ownCluster gives one test a control plane of its own, which it may kill, and returns its folder. args
// are further flags of `devcluster up`.
func ownCluster(t *testing.T, args ...string) (dir string) {
	t.Helper()
	sharedCluster, sharedAdmin, sharedPort := cluster, admin, webhookPort
	t.Cleanup(func() { cluster, admin, webhookPort = sharedCluster, sharedAdmin, sharedPort })
	cluster = harness.StartFor(t, args...)
	if err := prepareCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cluster.Dir
}
