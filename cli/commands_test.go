package cli

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// newCommand is a root with the package's commands.
func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "kyklos", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands()...)
	return root
}

// kyklos runs a command without a cluster, and returns what it prints and its exit code.
func kyklos(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	cmd := newCommand()
	var out, errs bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		errs.WriteString(err.Error())
		code = 2
		if coded, ok := errors.AsType[findings](err); ok {
			code = coded.ExitCode()
		}
	}
	return out.String(), errs.String(), code
}
