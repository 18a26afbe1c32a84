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

// Suite holds what the tests of one package share.
type Suite struct {
	// Dir is a temporary folder.
	Dir string

	ends []func() error
	log  *Log
}

// RunTests is a package's TestMain. prepare sets up what the tests share. It exits with the code of the tests, or with 1 and
// a message if prepare or a function of Suite.AtEnd fails.
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

// AtEnd calls end after the tests, in reverse order, even if prepare fails later.
func (s *Suite) AtEnd(end func() error) { s.ends = append(s.ends, end) }

// ShowOnFailure prints the managers' log if a test fails.
func (s *Suite) ShowOnFailure(log *Log) { s.log = log }

// Start starts a control plane for all tests.
func (s *Suite) Start(ctx context.Context, args ...string) (*Cluster, error) {
	cluster, err := Start(ctx, filepath.Join(s.Dir, "cluster"), args...)
	if err != nil {
		return nil, err
	}
	s.AtEnd(cluster.Stop)
	return cluster, nil
}

// StartFor starts a control plane for one test.
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

// RootFor returns the repository's root.
func RootFor(t testing.TB) string {
	t.Helper()
	root, err := Root()
	Must(t, err)
	return root
}
