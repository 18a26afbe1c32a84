package installation

import (
	"context"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// movable is a manager whose clock a harness.Clock sets.
var movable string

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) error {
	movable = filepath.Join(s.Dir, "kyklos-movable")
	return harness.BuildMovable(ctx, movable)
}
