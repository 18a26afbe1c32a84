package chaos

import (
	"context"
	"flag"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var (
	installation *fixtures.Installation
	// admin is the tests' own client.
	admin client.Client
	store *harness.ObjectStore
	// etcd is the API server's store.
	etcd *harness.Etcd
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
	if etcd, err = harness.StartEtcd(ctx, filepath.Join(s.Dir, "etcd")); err != nil {
		return err
	}
	s.AtEnd(etcd.Kill)
	cluster, err := s.Start(ctx, append(etcd.OnEtcd(), harness.HostProcesses, harness.AuditLog)...)
	if err != nil {
		return err
	}
	s.AtEnd(cluster.NothingForbidden)
	if installation, err = fixtures.Install(ctx, cluster, s.Dir); err != nil {
		return err
	}
	if admin, err = cluster.Client(); err != nil {
		return err
	}
	if err := cluster.Apply(ctx, fixtures.WidgetManifests); err != nil {
		return err
	}
	if *crashes == "some" {
		return flag.Set("test.parallel", "8") // they wait far more than they compute
	}
	return nil
}

// scenario is one test's namespace with TimeWindowScalers. These tests run one after another, because their managers
// serve all namespaces.
type scenario struct{ *fixtures.Scaling }

func newScenario(t *testing.T) *scenario { return &scenario{fixtures.NewScaling(t, installation)} }
