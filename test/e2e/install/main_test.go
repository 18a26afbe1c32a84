// Package install compares the Helm chart with the manifests of kustomize, and installs, upgrades and removes Kyklos on real
// API servers with the commands of docs/install.md. It checks that the API server accepts the pods, and that the manager
// uses every permission that its roles grant, and no other.
package install

import (
	"context"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// movable is the path of a manager whose clock tests can set.
var movable string

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) error {
	movable = filepath.Join(s.Dir, "kyklos-movable")
	return harness.BuildMovable(ctx, movable)
}
