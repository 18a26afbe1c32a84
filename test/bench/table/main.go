// Command table takes what benchmarks recorded, compares it with what was measured last, and writes docs/benchmarks.md. `make bench`
// runs it; `make generate` has it write the page alone.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"kyklos.io/kyklos/test/bench"
)

//go:generate go run . ../../..

func main() {
	now := run{Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(), Machine: thisMachine()}
	flag.StringVar(&now.Kubernetes, "kubernetes", "", "the version of Kubernetes that was measured with")
	flag.StringVar(&now.Commit, "commit", "", "the commit that was measured")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: table [-kubernetes VERSION -commit COMMIT] REPOSITORY [FIGURES ...]")
		os.Exit(2)
	}
	if err := merge(os.Stdout, flag.Arg(0), now, flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// merge replaces the areas that the files have figures of, prints how they have changed, and writes the page.
func merge(out io.Writer, repository string, now run, files []string) error {
	path := filepath.Join(repository, "test", "bench", "table", "testdata", "measured.json")
	known, err := read(path)
	if err != nil {
		return err
	}
	measured := results{}
	for _, file := range files {
		figures, err := bench.Read(file)
		if err != nil {
			return err
		}
		for area, list := range figures {
			next := now
			next.Figures = append(measured[area].Figures, list...)
			measured[area] = next
		}
	}
	if len(files) > 0 {
		if err := show(out, known, measured); err != nil {
			return err
		}
		if err := known.replace(measured).write(path); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(repository, "docs", "benchmarks.md"), []byte(page(known)), 0o600)
}
