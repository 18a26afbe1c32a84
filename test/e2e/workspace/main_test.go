package workspace

import (
	"context"
	"flag"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	// admin is the tests' own client.
	admin client.Client
	store *harness.ObjectStore
)

func TestMain(m *testing.M) {
	flag.Parse()
	harness.RunTests(m, prepare)
}

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	if store, err = harness.StartObjectStore(ctx, filepath.Join(s.Dir, "store"), nil); err != nil {
		return err
	}
	s.AtEnd(store.Stop)
	if cluster, err = s.Start(ctx, harness.HostProcesses, harness.AuditLog); err != nil {
		return err
	}
	if _, err := cluster.InstallOnFreePort(ctx); err != nil {
		return err
	}
	if admin, err = cluster.Client(); err != nil {
		return err
	}
	s.AtEnd(cluster.NothingForbidden)
	if *crashes == "some" {
		return flag.Set("test.parallel", "8") // they wait far more than they compute
	}
	return nil
}
