package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/buildinfo"
)

var versionFormats = []string{"text", "json"}

func newVersionCommand() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Kyklos, its Kubernetes libraries and its time zone database",
		Example: `  # For people
  kyklos version

  # For programs
  kyklos version -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), buildinfo.Read(), format)
		},
	}
	bindChoice(cmd, &format, "output", "o", "text or json", versionFormats)
	return cmd
}

func printVersion(w io.Writer, v buildinfo.Info, format string) error {
	if err := checkChoice("output", format, versionFormats); err != nil {
		return err
	}
	if format == "text" {
		_, err := fmt.Fprintf(w, "kyklos %s, tzdata %s, Kubernetes libraries %s, %s %s\n", v.Source(), v.TZData, v.Kubernetes, v.Go, v.Platform)
		return err
	}
	return timeline.WriteJSON(w, v)
}
