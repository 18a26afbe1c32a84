// Package cli has the commands that people and pipelines run: they read manifests and a cluster, and change nothing there.
package cli

import "github.com/spf13/cobra"

// ExitFindings is the exit code of a command that did its work and says no: something is refused, or changes.
const ExitFindings = 1

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		newLintCommand(), newPreviewCommand(), newExplainCommand(), newDiffCommand(), newConvertCommand(), newVersionCommand(),
	}
}
