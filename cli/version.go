package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/buildinfo"
)

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
	cmd.Flags().StringVarP(&format, "output", "o", format, "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func printVersion(w io.Writer, v buildinfo.Info, format string) error {
	switch format {
	case "text":
		_, err := fmt.Fprintf(w, "kyklos %s, tzdata %s, Kubernetes libraries %s, %s %s\n", v.Source(), v.TZData, v.Kubernetes, v.Go, v.Platform)
		return err
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	return fmt.Errorf("--output: must be text or json, not %q", format)
}
