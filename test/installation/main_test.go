package installation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// movable is a manager whose clock follows the file that KYKLOS_CLOCK_FILE names.
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
	build := exec.Command("go", "build", "-tags", "movableclock", "-o", movable, "kyklos.io/kyklos/cmd/kyklos")
	if output, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the manager with a movable clock: %w: %s", err, output)
	}
	return m.Run(), nil
}
