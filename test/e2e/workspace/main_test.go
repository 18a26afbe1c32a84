// Package workspace takes Workspaces through their states with real bytes: the manager and its movers are the built
// program, pods are processes, volumes are folders, and the archive is a real S3 store. Package chaos has the same with
// crashes.
package workspace

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var (
	cluster *harness.Cluster
	store   *harness.ObjectStore
)

func TestMain(m *testing.M) {
	serveIfAsked()
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
	s.AtEnd(cluster.NothingForbidden)
	if _, err := cluster.InstallOnFreePort(ctx); err != nil {
		return err
	}
	return flag.Set("test.parallel", "8") // the tests wait far more than they compute
}

// scenario is one test's namespace.
type scenario struct{ *fixtures.Workspaces }

func newScenario(t *testing.T) *scenario {
	t.Helper()
	return &scenario{fixtures.NewWorkspaces(t, cluster, store)}
}

// leaveFile writes a file to the home, and expectFile expects it there.
func (s *scenario) leaveFile(content string) {
	s.Helper()
	s.Must(os.WriteFile(filepath.Join(s.Home(), "file"), []byte(content), 0o600))
}

func (s *scenario) expectFile(want string) {
	s.Helper()
	if content, err := os.ReadFile(filepath.Join(s.Home(), "file")); err != nil || string(content) != want {
		s.Errorf("the home has %q, %v", content, err)
	}
}

// archiveAndRestore archives and restores the home of a running Workspace, and expects a file of it to be there again.
func (s *scenario) archiveAndRestore(content string) {
	s.Helper()
	s.leaveFile(content)
	s.Change(`{"desiredState":"PENDING"}`)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile(content)
}
