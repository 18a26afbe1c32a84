// Package lint_test compares what the command line reports about manifests without a cluster with what a real API server says
// of them.
package lint_test

import (
	"context"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// cluster is the API server of all tests here. Which definitions it has, and whether Kyklos runs on it, says stage.
var cluster *harness.Cluster

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	s.ShowOnFailure(&managerLog)
	if cluster, err = s.Start(ctx); err != nil {
		return err
	}
	s.AtEnd(func() error {
		if manager == nil { // no test asked for it
			return nil
		}
		return manager.Stop()
	})
	return nil
}
