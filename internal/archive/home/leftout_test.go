package home

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDescribeLeftOut(t *testing.T) {
	for want, test := range map[string]struct {
		kinds map[string]int64
		names []string
	}{
		"":                       {},
		`1 socket ("a": socket)`: {map[string]int64{"socket": 1}, []string{`"a": socket`}},
		`2 pipes, 3 sockets ("a": pipe, "b": socket)`: {map[string]int64{"socket": 3, "pipe": 2}, []string{`"a": pipe`, `"b": socket`}},
		"1 pipe":           {map[string]int64{"pipe": 1}, []string{strings.Repeat("x", 400)}},
		"2 pipes (a, ...)": {map[string]int64{"pipe": 2}, []string{"a", strings.Repeat("x", 400)}},
	} {
		if got := DescribeLeftOut(test.kinds, test.names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := DescribeLeftOut(map[string]int64{"socket": 1 << 60, "time": 2}, rapid.SliceOfN(rapid.StringN(0, 200, -1), 0, 10).Draw(t, "names"))
		if len(text) > maxLeftOutText || !strings.HasPrefix(text, "1152921504606846976 sockets, 2 times") {
			t.Fatalf("%d bytes: %s", len(text), text)
		}
	})
}

// The names in the text are one line that can be shown, whatever files and their attributes are called.
func TestLeftOutIsPrintable(t *testing.T) {
	var left leftOut
	left.out("a\nb\x1b[2J", "attribute user.\x1b[31m\u202ered")
	left.out("é", "socket")
	var summary Summary
	left.put(&summary)
	want := []string{`"a\nb\x1b[2J": attribute user.\x1b[31m\u202ered`, `"é": socket`}
	if diff := cmp.Diff(want, summary.LeftOut); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// W65: an attribute that is not kept is said.
func TestOtherAttributesAreReported(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"file": "x"})
	set(t, filepath.Join(folder, "file"), "trusted.kyklos", "v")
	_, summary := packed(t, folder)
	if diff := cmp.Diff([]string{`"file": attribute trusted.kyklos`}, summary.LeftOut); diff != "" {
		t.Error(diff)
	}
}
