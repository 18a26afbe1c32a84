// Package integration runs the real manager process against a real API server: what it refuses,
// how many requests it sends, and what is left when it or the API server is killed at any point.
package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/controlplane"
)

var (
	cluster *controlplane.Cluster
	// admin is the tests' own client.
	admin client.Client
	// webhookPort is where the webhook configurations point.
	webhookPort int
	// movable is a manager whose clock tests can step; see movedClock.
	movable string
	// scratch is removed at the end.
	scratch string
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if scratch, err = os.MkdirTemp("", "kyklos-integration"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	movable = filepath.Join(scratch, "kyklos-movable")
	if err := controlplane.BuildMovable(ctx, movable); err != nil {
		return 0, err
	}
	if cluster, err = controlplane.Start(ctx, filepath.Join(scratch, "cluster"), controlplane.ExternalMetrics, controlplane.AuditLog); err != nil {
		return 0, err
	}
	defer func() { _ = cluster.Stop() }()
	if err := prepareCluster(ctx); err != nil {
		return 0, err
	}
	code = m.Run()
	return code, cluster.NothingForbidden()
}

// prepareCluster installs Kyklos on cluster and makes the clients for it.
func prepareCluster(ctx context.Context) (err error) {
	if webhookPort, err = controlplane.FreePort(); err != nil {
		return err
	}
	if err := cluster.Install(ctx, webhookPort); err != nil {
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
	dir = filepath.Join(t.TempDir(), "cluster")
	own, err := controlplane.Start(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	cluster = own
	t.Cleanup(func() {
		_ = cluster.Stop()
		cluster, admin, webhookPort = sharedCluster, sharedAdmin, sharedPort
	})
	if err := prepareCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}
