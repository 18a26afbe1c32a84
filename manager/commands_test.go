package manager

import (
	"errors"

	"github.com/spf13/cobra"
)

// newCommand is a root with the package's commands alone.
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
