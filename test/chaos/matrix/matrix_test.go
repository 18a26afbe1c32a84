package matrix

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/test/harness"
)

var update = flag.Bool("update", false, "rewrite docs/faults.md")

func TestPage(t *testing.T) {
	measured, err := read(filepath.Join("testdata", "measured.json"))
	harness.Must(t, err)
	path := filepath.Join(harness.RootFor(t), "docs", "faults.md")
	if *update {
		harness.Must(t, os.WriteFile(path, []byte(page(rows, measured)), 0o600))
	}
	text, err := os.ReadFile(path)
	harness.Must(t, err)
	if string(text) != page(rows, measured) {
		t.Error("docs/faults.md differs from the table: run go test ./test/chaos/matrix -update")
	}
}

// Every fault has a row, in order, and every test in it exists.
func TestRows(t *testing.T) {
	if len(rows) != 23 {
		t.Errorf("got %d rows, want 23", len(rows))
	}
	for i, r := range rows {
		if r.ID != fmt.Sprint("F", i+1) || r.Fault == "" || r.Promise == "" || len(r.Tests) == 0 {
			t.Errorf("row %d is %+v", i+1, r)
		}
		for _, test := range r.Tests {
			folder, name, _ := strings.Cut(test, ".")
			if !declared(t, filepath.Join(harness.RootFor(t), folder), name) {
				t.Errorf("%s: there is no %s in %s", r.ID, name, folder)
			}
		}
	}
}

func declared(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	harness.Must(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		harness.Must(t, err)
		if strings.Contains(string(source), "func "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "measured.json")
	t.Setenv(recordVariable, path)
	for range 2 {
		harness.Must(t, Record("F5", "recovered after", 1234*time.Millisecond))
	}
	harness.Must(t, Record("F9", "CPU seconds", 0.5))
	got, err := read(path)
	harness.Must(t, err)
	if fmt.Sprint(got) != "map[F5:map[recovered after:1.23 s] F9:map[CPU seconds:0.50]]" {
		t.Errorf("got %v", got)
	}
	t.Setenv(recordVariable, "")
	if err := Record("F5", "recovered after", time.Hour); err != nil {
		t.Error(err)
	}
}
