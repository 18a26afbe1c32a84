package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/timecalc"
)

// The linker sets these for an image: -X main.version=v1.2.3 -X main.commit=... -X main.date=... (RFC 3339).
// The commit's own date, not the build's, so that the same commit gives the same bytes.
var version, commit, date string

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and that of the embedded time zone database",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			info, _ := debug.ReadBuildInfo()
			fmt.Fprintf(cmd.OutOrStdout(), "kyklos %s, tzdata %s, %s %s/%s\n",
				source{version, commit, date}.orFrom(info), timecalc.TZDataVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

func ownVersion() string {
	info, _ := debug.ReadBuildInfo()
	return source{version, commit, date}.orFrom(info).version
}

// source says what a binary was built from. Only the version is always there.
type source struct{ version, commit, date string }

// orFrom fills what the linker left empty from what the Go command noted, as after go install with a
// version. A nil info notes nothing.
func (s source) orFrom(info *debug.BuildInfo) source {
	if info != nil {
		noted := source{version: info.Main.Version}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				noted.commit = setting.Value
			case "vcs.time":
				noted.date = setting.Value
			}
		}
		if s == (source{}) {
			s = noted
		}
	}
	if s.version == "" {
		s.version = "(devel)"
	}
	return s
}

func (s source) String() string {
	parts := []string{s.version}
	if s.commit != "" {
		parts = append(parts, "commit "+s.commit)
	}
	if s.date != "" {
		parts = append(parts, s.date)
	}
	return strings.Join(parts, ", ")
}
