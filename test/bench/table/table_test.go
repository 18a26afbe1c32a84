package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
)

func TestPage(t *testing.T) {
	known, err := read(filepath.Join("testdata", "measured.json"))
	harness.Must(t, err)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "benchmarks.md"))
	harness.Must(t, err)
	if string(text) != page(known) {
		t.Error("docs/benchmarks.md differs from what was measured: run go generate ./test/bench/table")
	}
	for area := range known {
		if !slices.ContainsFunc(bench.Areas, func(a bench.Area) bool { return a.ID == area }) {
			t.Errorf("there is no area %s any more", area)
		}
	}
}

// make bench runs every part that it has, and the page has a section for it.
func TestParts(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
	harness.Must(t, err)
	var parts []string
	for _, rule := range regexp.MustCompile(`(?m)^bin/bench/(\w+):`).FindAllSubmatch(makefile, -1) {
		parts = append(parts, string(rule[1]))
	}
	all := regexp.MustCompile(`(?m)^BENCH \?= (.*)$`).FindSubmatch(makefile)
	if all == nil || string(all[1]) != strings.Join(parts, " ") {
		t.Errorf("BENCH is %q, the rules are for %s", all, parts)
	}
	for _, part := range parts {
		if !slices.ContainsFunc(bench.Areas, func(a bench.Area) bool { return a.ID == part }) {
			t.Errorf("bench.Areas lacks %s", part)
		}
	}
}

// repository is an empty one, and records a run into it.
type repository struct {
	*testing.T
	folder string
	said   *golden.File
}

func newRepository(t *testing.T) *repository {
	r := &repository{t, t.TempDir(), golden.New(t, "runs")}
	harness.Must(t, os.Mkdir(filepath.Join(r.folder, "docs"), 0o750))
	return r
}

func (r *repository) measure(what string, now run, figures ...bench.Figure) {
	r.Helper()
	path := filepath.Join(r.TempDir(), "figures")
	r.Setenv(bench.Variable, path)
	for _, f := range figures {
		bench.Record(r, f)
	}
	var out strings.Builder
	harness.Must(r, merge(&out, r.folder, now, []string{path}))
	r.said.Add(what, out.String())
}

func TestRuns(t *testing.T) {
	r := newRepository(t)
	one := run{
		Date: "2026-11-01", Commit: "aaa", Go: "go1.26.0", Kubernetes: "v1.37.1",
		Machine: machine{CPU: "Some CPU", Cores: 2, MemoryGB: 8},
	}
	other := one
	other.Machine.Cores, other.Date, other.Commit = 64, "2026-11-03", "bbb"
	up := bench.Figure{Area: "storm", What: "1,000 up", Unit: "s", Value: 1.2, Floor: 1, Beside: "bare client", Goal: 1.25}
	cpu := bench.Figure{Area: "storm", What: "CPU of each", Unit: "ms", Value: 2}
	requests := bench.Figure{Area: "workspaces", What: "requests at rest", Unit: "requests", Value: 0}
	archive := bench.Figure{Area: "archives", What: "archiving", Unit: "s", Value: 1, Floor: 4, Beside: "tar | gzip"}
	with := func(f bench.Figure, value, floor float64) bench.Figure {
		f.Value, f.Floor = value, floor
		return f
	}
	r.measure("1 first", one, up, cpu, requests, archive)
	r.measure("2 the same within the tolerance, on a slow day", one, with(up, 2.48, 2), with(cpu, 2.29, 0), requests, archive)
	r.measure("3 slower, beside what took as long as before", one, with(up, 3, 2), with(cpu, 2.7, 0), with(requests, 1, 0))
	r.measure("4 another machine", other, with(up, 0.9, 0.5), with(cpu, 12_345, 0))
	r.measure("5 less is measured", other, with(up, 0.6, 0.5))
	text, err := os.ReadFile(filepath.Join(r.folder, "docs", "benchmarks.md"))
	harness.Must(t, err)
	var measured []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "Measured on") {
			measured = append(measured, strings.TrimSpace(line))
		}
	}
	r.said.Add("6 the tables of the page", measured...)
}

func TestDigits(t *testing.T) {
	for want, value := range map[string]float64{"0": 0, "0.000193": 0.00019296, "0.0913": 0.09134, "1.25": 1.25, "12,300": 12345, "3,940,000": 3.94e6} {
		if got := digits(value); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A part that was not measured stays as it was, and so does a page that is only written again.
func TestNothingMeasured(t *testing.T) {
	r := &repository{T: t, folder: t.TempDir()}
	harness.Must(t, os.Mkdir(filepath.Join(r.folder, "docs"), 0o750))
	var out strings.Builder
	harness.Must(t, merge(&out, r.folder, run{}, nil))
	if _, err := os.Stat(filepath.Join(r.folder, "test")); err == nil || out.Len() > 0 {
		t.Errorf("it printed %q, or wrote figures", &out)
	}
	if err := merge(&out, r.folder, run{}, []string{"nowhere"}); err == nil {
		t.Error("figures that do not exist are merged")
	}
}
