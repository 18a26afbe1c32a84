package harness

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tests are the tests of a package with an exit code.
type tests func() int

func (t tests) Run() int { return t() }

// Cleanups run in reverse order, the folder is deleted, and no failure is lost.
func TestRunTests(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		prepare, end error
		code, want   int
		steps        string
		complaints   string
	}{
		"all is well":       {want: 0, steps: "prepare tests second first"},
		"a test fails":      {code: 3, want: 3, steps: "prepare tests second first", complaints: "the manager logged:\nhello\n"},
		"nothing to test":   {prepare: broken, want: 1, steps: "prepare second first", complaints: "broken\nthe manager logged:\nhello\n"},
		"it does not end":   {end: broken, want: 1, steps: "prepare tests second first", complaints: "broken\nthe manager logged:\nhello\n"},
		"neither, nor ends": {prepare: broken, end: broken, want: 1, steps: "prepare second first", complaints: "broken\nbroken\nthe manager logged:\nhello\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			var complaints strings.Builder
			var dir string
			step := func(name string, err error) error {
				steps = append(steps, name)
				return err
			}
			run := tests(func() int {
				_ = step("tests", nil)
				return c.code
			})
			code := runTests(run, &complaints, func(_ context.Context, s *Suite) error {
				dir = s.Dir
				log := &Log{}
				_, _ = log.Write([]byte("hello\n"))
				s.ShowOnFailure(log)
				s.AtEnd(func() error { return step("first", c.end) })
				s.AtEnd(func() error { return step("second", nil) })
				return step("prepare", errors.Join(c.prepare, os.WriteFile(dir+"/file", nil, 0o600)))
			})
			if code != c.want {
				t.Errorf("exit code %d, want %d", code, c.want)
			}
			if diff := cmp.Diff(c.steps, strings.Join(steps, " ")); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.complaints, complaints.String()); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", dir, err)
			}
		})
	}
}
