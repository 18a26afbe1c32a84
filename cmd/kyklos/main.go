// Command kyklos is the operator, and what people and pipelines need for its schedules on their desks: one
// binary, whose subcommands are its roles.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	root := newCommand()
	asPlugin(root, os.Args[0], os.Args[1:])
	if err := root.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		if text := err.Error(); text != "" { // otherwise the command has said all
			fmt.Fprintln(os.Stderr, "kyklos:", text)
		}
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
		Use:   "kyklos",
		Short: "Scale workloads by time windows",
		Long: `Kyklos scales Kubernetes workloads by the time of day and week.

The commands for schedules read manifests and need no cluster: they say what is wrong with a schedule, and what
it will do, before it is applied. The commands for a cluster are those that Kyklos itself runs there.
The help of each command has examples, as kyklos convert --help.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newManagerCommand(), newMoverCommand(), newHeartbeatCommand(), newVersionCommand())
	root.AddCommand(newLintCommand())
	root.AddCommand(newPreviewCommand())
	root.AddCommand(newExplainCommand())
	root.AddCommand(newDiffCommand())
	root.AddCommand(newConvertCommand())
	root.AddCommand(developerCommands()...)
	root.SetFlagErrorFunc(explainFlagError)
	addGroups(root)
	nameArguments(root)
	addCompletions(root)
	return root
}
