// Package lint_test holds what the command line says of manifests without a cluster against what a real API server says
// of them.
package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kyklos.io/kyklos/test/controlplane"
)

// cluster is the API server of all tests here. Which definitions it has, and whether Kyklos runs on it, says stage.
var cluster *controlplane.Cluster

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	scratch, err := os.MkdirTemp("", "kyklos-lint")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	if cluster, err = controlplane.Start(ctx, filepath.Join(scratch, "cluster")); err != nil {
		return 0, err
	}
	defer func() { _ = cluster.Stop() }()
	code = m.Run()
	if manager != nil {
		_ = manager.Stop()
	}
	if code != 0 && manager != nil {
		fmt.Fprintf(os.Stderr, "the manager logged:\n%s", managerLog.String())
	}
	return code, nil
}
