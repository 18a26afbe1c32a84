package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/timecalc"
)

// version is set by the linker for releases: -X main.version=v1.2.3.
var version = ""

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and that of the embedded time zone database",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "kyklos %s, tzdata %s, %s %s/%s\n",
				ownVersion(), timecalc.TZDataVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

func ownVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
