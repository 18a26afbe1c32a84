// Command kyklos is the operator: one binary whose subcommands are its roles.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := newCommand().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "kyklos:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is 1, unless the error has one of its own.
func exitCode(err error) int {
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return coded.ExitCode()
	}
	return 1
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "kyklos",
		Short:         "Scale workloads by time windows",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newManagerCommand(), newMoverCommand(), newHeartbeatCommand(), newVersionCommand())
	root.AddCommand(newPreviewCommand())
	root.AddCommand(newExplainCommand())
	root.AddCommand(newDiffCommand())
	return root
}
