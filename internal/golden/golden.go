// Package golden compares what tests get with a file in testdata: the wording of an area is in one place, and a better
// sentence costs one line there. go test -update rewrites the files. A File belongs to one
// test, Messages to all tests of a package.
package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Updating reports whether golden files are rewritten.
func Updating() bool { return *update }

// File is a golden file with one section per test case.
type File struct {
	t        testing.TB
	path     string
	sections map[string]string
}

// New returns testdata/NAME.golden, which is compared when the test ends.
func New(t testing.TB, name string) *File {
	f := &File{t: t, path: filepath.Join("testdata", name+".golden"), sections: make(map[string]string)}
	t.Cleanup(f.compare)
	return f
}

// Add records the text of a test case.
func (f *File) Add(name string, lines ...string) {
	f.t.Helper()
	if _, known := f.sections[name]; known {
		f.t.Errorf("%s: section %q exists already", f.path, name)
	}
	f.sections[name] = strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (f *File) compare() {
	if f.t.Failed() {
		return
	}
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.sections)) {
		fmt.Fprintf(&got, "== %s\n%s\n\n", name, f.sections[name])
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(f.path, []byte(got.String()), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		f.t.Errorf("%s (-want +got; go test -update accepts it)\n%s", f.path, diff)
	}
}
