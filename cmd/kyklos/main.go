// Command kyklos is the operator, and what people and pipelines need for its schedules on their desks: one
// binary, whose subcommands are its roles.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/cli"
)

func main() {
	root := newCommand()
	asPlugin(root, os.Args[0], os.Args[1:])
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if inCluster(cmd) { // it ends what it has begun; all others end at once, as while they wait for standard input
			cmd.SetContext(ctrl.SetupSignalHandler())
		}
	}
	if cmd, err := root.ExecuteC(); err != nil {
		if text := err.Error(); text != "" { // otherwise the command has said all
			fmt.Fprintln(os.Stderr, "kyklos:", text)
		}
		os.Exit(exitCode(cmd, err))
	}
}

// exitUnusable says that a command could not do its work: something cannot be read, or the command line is wrong.
const exitUnusable = 2

// exitCode is that of a command's error, if it has one of its own. Commands that Kyklos runs in a cluster have no more to
// say than 1.
func exitCode(cmd *cobra.Command, err error) int {
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return coded.ExitCode()
	}
	if inCluster(cmd) {
		return 1
	}
	return exitUnusable
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kyklos",
		Short: "Scale workloads by time windows",
		Long: `Kyklos scales Kubernetes workloads by the time of day and week.

The commands for schedules read manifests and need no cluster: they say what is wrong with a schedule, and what
it will do, before it is applied. The commands for a cluster are those that Kyklos itself runs there.
The help of each command has examples, as kyklos convert --help.

The exit code is 1 if lint refuses something, or diff --exit-code finds a change, and 2 if a command could not do
its work: something cannot be read, or the command is not right.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(clusterCommands()...)
	root.AddCommand(cli.Commands()...)
	root.AddCommand(developerCommands()...)
	root.SetFlagErrorFunc(explainFlagError)
	addGroups(root)
	nameArguments(root)
	return root
}
