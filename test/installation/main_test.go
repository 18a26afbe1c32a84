package installation

import (
	"context"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// movable is a manager whose clock a controlplane.Clock sets.
var movable string

func TestMain(m *testing.M) { controlplane.RunTests(m, prepare) }

func prepare(ctx context.Context, s *controlplane.Suite) error {
	movable = filepath.Join(s.Dir, "kyklos-movable")
	return controlplane.BuildMovable(ctx, movable)
}
