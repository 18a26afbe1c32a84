package workspace

import (
	"context"
	"errors"
	"flag"
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
	store *controlplane.ObjectStore
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
	flag.Parse()
	ctx := context.Background()
	scratch, err := os.MkdirTemp("", "kyklos-workspace")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	if store, err = controlplane.StartObjectStore(ctx, filepath.Join(scratch, "store"), nil); err != nil {
		return 0, err
	}
	defer func() { _ = store.Stop() }()
	cluster, err = controlplane.Start(ctx, filepath.Join(scratch, "cluster"), controlplane.HostProcesses, controlplane.AuditLog)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	port, err := controlplane.FreePort()
	if err != nil {
		return 0, err
	}
	if err := cluster.Install(ctx, port); err != nil {
		return 0, err
	}
	if _, _, err := cluster.Kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=60s", "crd/workspaces.kyklos.io"); err != nil {
		return 0, err
	}
	if admin, err = cluster.Client(); err != nil {
		return 0, err
	}
	if *crashes == "some" {
		_ = flag.Set("test.parallel", "8") // they wait far more than they compute
	}
	code = m.Run()
	return code, cluster.NothingForbidden()
}
