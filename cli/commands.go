// Package cli has the commands for people: they read manifests and clusters. Only those of Workspaces that say so change something in a
// cluster.
package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/manifest"
)

// ExitFindings is the exit code of lint with findings, and of diff --exit-code with changes.
const ExitFindings = 1

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		newLintCommand(), newPreviewCommand(), newExplainCommand(), newDiffCommand(), newConvertCommand(), newWorkspaceCommand(), newVersionCommand(),
	}
}

// findings is the error of ExitFindings. Its text is empty if the findings have been printed.
type findings string

func (f findings) Error() string { return string(f) }
func (findings) ExitCode() int   { return ExitFindings }

// bindFiles adds the flag of manifests. without is what happens without it.
func bindFiles(flags *pflag.FlagSet, files *[]string, without string) {
	flags.StringArrayVarP(files, "filename", "f", nil, "file or folder of manifests, or - for standard input; can be repeated"+without)
}

// bindChoice adds a flag with a fixed set of values, which are completed.
func bindChoice(cmd *cobra.Command, value *string, name, short, usage string, values []string) {
	cmd.Flags().StringVarP(value, name, short, *value, usage)
	completeChoice(cmd, name, values)
}

func completeChoice(cmd *cobra.Command, name string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func checkChoice(name, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("--%s: must be one of %s, not %q", name, strings.Join(values, ", "), value)
}

func progress(cmd *cobra.Command, what string) (stop func()) {
	return console.Progress(cmd.Context(), cmd.ErrOrStderr(), what)
}

// readManifests reads files, folders and standard input.
func readManifests(cmd *cobra.Command, files []string) (*manifest.Set, error) {
	defer progress(cmd, "Reading the manifests ...")()
	set, err := manifest.Read(files, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	return set, nil
}

// note prints notes on stderr, each once.
func note(w io.Writer, texts ...string) {
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			fmt.Fprintln(w, "kyklos: note:", manifest.Printable(text))
		}
	}
}
