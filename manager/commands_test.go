package manager

import (
	"errors"

	"github.com/spf13/cobra"
)

// newCommand returns a root with only the package's commands.
func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "kyklos", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands()...)
	return root
}

// exitCode is the error's own exit code, 1 if it has none.
func exitCode(_ *cobra.Command, err error) int {
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return coded.ExitCode()
	}
	return 1
}
