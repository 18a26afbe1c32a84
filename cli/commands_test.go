package cli

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

// exitCode is the error's own exit code, or that of a command that could not do its work.
func exitCode(_ *cobra.Command, err error) int {
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return coded.ExitCode()
	}
	return 2
}
