package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive/mover"
)

// W98: the check says what is wrong in its termination message, and by its exit code.
func TestTheCheckOfAHome(t *testing.T) {
	volume := t.TempDir()
	if err := os.WriteFile(filepath.Join(volume, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if result, _, code, err := moverRun(t, "check", "--volume", volume); result.Code != mover.HomeMissing || code != 13 || !strings.Contains(result.Message, "thesis.txt") {
		t.Errorf("%+v, %d, %v", result, code, err)
	}
	if err := os.MkdirAll(filepath.Join(volume, "home", "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if result, _, _, err := moverRun(t, "check", "--volume", volume); err != nil || result.Code != mover.OK {
		t.Errorf("%+v, %v", result, err)
	}
	if _, _, _, err := moverRun(t, "check"); err == nil || !strings.Contains(err.Error(), "volume") {
		t.Errorf("without a volume: %v", err)
	}
}
