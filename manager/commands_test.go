package manager

import "github.com/spf13/cobra"

// newCommand returns a root with only the package's commands.
func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "kyklos", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands()...)
	return root
}
