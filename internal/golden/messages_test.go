package golden

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trial is a test whose failure is wanted.
type trial struct {
	testing.TB
	name   string
	ends   func()
	failed bool
}

func (t *trial) Name() string          { return t.name }
func (t *trial) Cleanup(ends func())   { t.ends = ends }
func (t *trial) Errorf(string, ...any) { t.failed = true }
func (t *trial) Failed() bool          { return t.failed }

// run adds the messages in a test of this name, and reports whether it failed.
func run(t *testing.T, name string, messages map[string]string) (failed bool) {
	t.Helper()
	test := &trial{TB: t, name: name}
	m := NewMessages(test)
	for _, key := range slices.Sorted(maps.Keys(messages)) {
		m.Add(key, messages[key])
	}
	test.ends()
	return test.failed
}

func updating(t *testing.T, on bool) {
	t.Helper()
	before := *update
	*update = on
	t.Cleanup(func() { *update = before })
}

func TestTestsShareTheMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a_test.go", []byte("func TestA(\nfunc TestB(\nfunc TestC(\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	updating(t, true)
	a, b := map[string]string{"x": "It works.", "y": "Two\n\nparagraphs."}, map[string]string{"x": "It fails."}
	if run(t, "TestA", a) || run(t, "TestB", b) || run(t, "TestGone", b) || run(t, "TestB", b) || run(t, "TestC", map[string]string{"": "Only one."}) {
		t.Fatal("an update fails")
	}
	const want = "== TestA: x\nIt works.\n\n== TestA: y\nTwo\n\nparagraphs.\n\n== TestB: x\nIt fails.\n\n== TestC\nOnly one.\n\n"
	if got, err := os.ReadFile(messagesFile); err != nil || string(got) != want {
		t.Errorf("%v (-want +got)\n%s", err, cmp.Diff(want, string(got)))
	}
	updating(t, false)
	for name, tc := range map[string]struct {
		messages map[string]string
		fails    bool
	}{
		"the same":     {a, false},
		"another text": {map[string]string{"x": "It works!", "y": a["y"]}, true},
		"one less":     {map[string]string{"x": a["x"]}, !someSubtests()},
		"one more":     {map[string]string{"x": a["x"], "y": a["y"], "z": "New."}, true},
		"a heading":    {map[string]string{"x": a["x"], "y": a["y"] + "\n== z"}, true},
	} {
		if run(t, "TestA", tc.messages) != tc.fails {
			t.Errorf("%s: %v, want %v", name, !tc.fails, tc.fails)
		}
	}
	if err := os.WriteFile(messagesFile, []byte(strings.ReplaceAll(want, "TestB", "TestOld")), 0o600); err != nil {
		t.Fatal(err)
	}
	if !run(t, "TestA", a) {
		t.Error("a section of a test that is gone is not noticed")
	}
}
