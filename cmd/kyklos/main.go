// Command kyklos is the operator and the offline CLI: one binary, whose subcommands are its roles.
package main

//go:generate go run -tags reference . reference ../../docs/cli

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
	setUpPlugin(root, os.Args[0], os.Args[1:])
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if inCluster(cmd) { // shuts down gracefully; offline commands stop at once
			cmd.SetContext(ctrl.SetupSignalHandler())
		}
	}
	if cmd, err := root.ExecuteC(); err != nil {
		if text := err.Error(); text != "" { // empty if the command has printed the reason
			fmt.Fprintln(os.Stderr, "kyklos:", text)
		}
		os.Exit(exitCode(cmd, err))
	}
}

// exitUnusable is the exit code of invalid input or an invalid command line.
const exitUnusable = 2

// exitCode is the exit code of a command's error. Commands in a cluster fail with 1.
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

var extraCommands []*cobra.Command

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kyklos",
		Short: "Scale workloads by time windows",
		Long: `Kyklos scales Kubernetes workloads by the time of day and week.

The commands for schedules read manifests and need no cluster: they validate a schedule and show its effect before
it is applied. The commands for a cluster are run there by Kyklos itself. The help of each command has examples,
as kyklos convert --help.

The exit code is 1 if lint reports errors, diff --exit-code finds a change, or a Workspace does not reach its state,
and 2 if the input or the command line is invalid.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(clusterCommands()...)
	root.AddCommand(cli.Commands()...)
	root.AddCommand(extraCommands...)
	root.SetFlagErrorFunc(explainFlagError)
	addGroups(root)
	nameFlagValues(root)
	return root
}
