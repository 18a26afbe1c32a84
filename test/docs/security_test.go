package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// namedTest is a test as the threat model links it.
var namedTest = regexp.MustCompile("\\[`(Test\\w+)`\\]\\(([^)]+)\\)")

// Each row of the threat model names the tests that show it, and they exist.
func TestThreatModel(t *testing.T) {
	rows, parties := 0, map[string]bool{}
	for line := range strings.Lines(section(readText(t, "SECURITY.md"), "## Threat model")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| **") || len(cells) != 4 {
			continue
		}
		rows++
		who := strings.TrimSpace(cells[0])
		if parties[who] {
			t.Errorf("%s has two rows", who)
		}
		parties[who] = true
		tests := namedTest.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("%s: no test", who)
		}
		for _, named := range tests {
			if !hasTest(t, named[2], named[1]) {
				t.Errorf("%s: %s has no %s", who, named[2], named[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("got %d rows, want the whole table", rows)
	}
}

// hasTest reports whether a folder of the project has a test.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	harness.Must(t, err)
	for _, file := range files {
		relative, err := filepath.Rel(root, file)
		harness.Must(t, err)
		if strings.Contains(readText(t, relative), fmt.Sprintf("\nfunc %s(t *testing.T)", name)) {
			return true
		}
	}
	return false
}
