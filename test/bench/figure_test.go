package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// judged is a test of which only errors are wanted.
type judged struct {
	testing.TB
	errors []string
}

func (t *judged) Helper()           {}
func (t *judged) Log(...any)        {}
func (t *judged) Error(args ...any) { t.errors = append(t.errors, fmt.Sprint(args...)) }

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures")
	t.Setenv(Variable, path)
	rest := Figure{Area: "sizing", What: "at rest", Unit: "MB", Value: 82}
	late := Figure{Area: "storm", What: "1,000 up", Unit: "s", Value: 1.5, Floor: 1.2, Beside: "bare client", Goal: 1.25}
	slower, busy, median := late, late, late
	slower.Value = 9
	busy.Value, busy.Floor = 1.6, 1.5 // both took longer
	median.Value, median.Floor = 1.6, 1.2
	twice := Figure{Area: "sizing", What: "a scrape", Unit: "ms", Value: 4}
	again, mean := twice, twice
	again.Value, mean.Value = 5, 4.5
	for _, f := range []Figure{late, rest, slower, twice, busy, again} {
		Record(t, f)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]Figure{"storm": {median}, "sizing": {rest, mean}}, got); diff != "" {
		t.Error(diff)
	}
	t.Setenv(Variable, "")
	Record(t, rest)
}

func TestRecordRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures")
	t.Setenv(Variable, path)
	good := Figure{Area: "storm", What: "up", Unit: "s", Value: 1, Floor: 1, Beside: "bare client"}
	for want, change := range map[string]func(*Figure){
		"area is unknown": func(f *Figure) { f.Area = "storms" },
		"and a unit":      func(f *Figure) { f.Unit = "" },
		"has a name":      func(f *Figure) { f.Beside = "" },
		"NaN is no":       func(f *Figure) { f.Value = math.NaN() },
		"+Inf is no":      func(f *Figure) { f.Value = math.Inf(1) },
		"-1 is no":        func(f *Figure) { f.Floor = -1 },
	} {
		f := good
		change(&f)
		test := &judged{TB: t}
		if Record(test, f); len(test.errors) != 1 || !strings.Contains(test.errors[0], want) {
			t.Errorf("got %q, want %q", test.errors, want)
		}
	}
	if _, err := Read(path); err == nil {
		t.Error("a refused figure was kept")
	}
}

func TestString(t *testing.T) {
	for want, f := range map[string]Figure{
		"storm: up: 1.24 s, bare client 1, ratio 1.24": {Area: "storm", What: "up", Unit: "s", Value: 1.2354, Floor: 1, Beside: "bare client"},
		"sizing: scrape: 12300 ms":                     {Area: "sizing", What: "scrape", Unit: "ms", Value: 12345},
		"workspaces: rest: 0 requests":                 {Area: "workspaces", What: "rest", Unit: "requests"},
	} {
		if f.String() != want {
			t.Errorf("got %q, want %q", f, want)
		}
	}
}
