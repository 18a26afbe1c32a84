// Package docs runs every command and checks every manifest and name of the documentation.
//
// It runs each block of ```console in README.md and docs/*.md in which a command is kyklos, at the beginning or behind a
// pipe. The commands run one after another in a copy of the project's config, docs and test/docs/testdata, which is a Git
// repository on the branch main, with bin first in PATH. Each block starts with a fresh copy, so it may change files.
// harness.ReadConsole describes the form of a block. What a command prints, to stdout and stderr together, must be what
// the page shows; "..." alone on a line stands for any number of lines. The exit code must be 0 unless the page shows
// another one.
//
// It also runs the examples in the help of each command, which docs/cli has. They exit with 0, unless the comment above
// has another code, as in "# exit 1: a mistake". Their output is not compared.
//
// A block below the line <!-- needs a cluster -->, and an example below a comment with the word cluster, runs against an
// API server with Kyklos, in the namespace desk, which has config/samples/office-hours.yaml. A block below
// <!-- not run: why --> does not run.
package docs

import (
	"context"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

var (
	// root is the repository, and samplesDir its config/samples.
	root, samplesDir string
	// offline runs the blocks that need no cluster.
	offline *sandbox
)

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	for _, name := range []string{"kyklos", "kubectl-kyklos", "kubectl"} {
		if _, err := harness.Binary(name); err != nil {
			return err
		}
	}
	if root, err = harness.Root(); err != nil {
		return err
	}
	samplesDir = filepath.Join(root, "config", "samples")
	offline, err = newSandbox(ctx, s.Dir)
	return err
}
