package installation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// movable is a manager whose clock a controlplane.Clock sets.
var movable string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	scratch, err := os.MkdirTemp("", "kyklos-installation")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	movable = filepath.Join(scratch, "kyklos-movable")
	if err := controlplane.BuildMovable(context.Background(), movable); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
