package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Suite is what the tests of one package share.
type Suite struct {
	// Dir is a folder of their own that is removed at the end.
	Dir string

	ends []func() error
	log  *Log
}

// RunTests is a package's TestMain: prepare makes what the tests share, in a folder that no other run has. It exits with
// the code of the tests, or with 1 when prepare or what Suite.AtEnd was given fails, and says why.
func RunTests(m *testing.M, prepare func(ctx context.Context, s *Suite) error) {
	os.Exit(runTests(m, os.Stderr, prepare))
}

func runTests(m interface{ Run() int }, complaints io.Writer, prepare func(ctx context.Context, s *Suite) error) int {
	s := &Suite{}
	code, err := s.run(m, prepare)
	if err != nil {
		fmt.Fprintln(complaints, err)
		code = 1
	}
	if code != 0 && s.log != nil {
		fmt.Fprintf(complaints, "the manager logged:\n%s", s.log.String())
	}
	return code
}

func (s *Suite) run(m interface{ Run() int }, prepare func(ctx context.Context, s *Suite) error) (code int, err error) {
	if s.Dir, err = os.MkdirTemp("", "kyklos-tests-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(s.Dir) }()
	defer func() {
		for i := len(s.ends) - 1; i >= 0; i-- {
			err = errors.Join(err, s.ends[i]())
		}
	}()
	if err := prepare(context.Background(), s); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// AtEnd has end called after the tests, before what was given earlier, and also when preparing fails later on.
func (s *Suite) AtEnd(end func() error) { s.ends = append(s.ends, end) }

// ShowOnFailure prints what the managers logged if a test fails.
func (s *Suite) ShowOnFailure(log *Log) { s.log = log }

// Start is Start of a control plane for all tests.
func (s *Suite) Start(ctx context.Context, args ...string) (*Cluster, error) {
	cluster, err := Start(ctx, filepath.Join(s.Dir, "cluster"), args...)
	if err != nil {
		return nil, err
	}
	s.AtEnd(cluster.Stop)
	return cluster, nil
}

// StartFor is Start of a control plane for the length of one test.
func StartFor(t testing.TB, args ...string) *Cluster {
	t.Helper()
	cluster, err := Start(t.Context(), filepath.Join(t.TempDir(), "cluster"), args...)
	Must(t, err)
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// RootFor is Root for a test.
func RootFor(t testing.TB) string {
	t.Helper()
	root, err := Root()
	Must(t, err)
	return root
}
