package main

import (
	"encoding/json"
	"fmt"
	"io"
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
			info, _ := debug.ReadBuildInfo()
			return versionsOf(info).print(cmd.OutOrStdout(), format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", format, "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// versions are those of a binary and of what is built into it.
type versions struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is that of the commit, RFC 3339.
	Date string `json:"date,omitempty"`
	// Kubernetes is the version of the Kubernetes libraries, v0.37.2 for those of Kubernetes 1.37.2.
	Kubernetes string `json:"kubernetes,omitempty"`
	TZData     string `json:"tzdata"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

func versionsOf(info *debug.BuildInfo) versions {
	from := source{version, commit, date}.orFrom(info)
	return versions{
		Version: from.version, Commit: from.commit, Date: from.date, Kubernetes: moduleVersion(info, "k8s.io/apimachinery"),
		TZData: timecalc.TZDataVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func (v versions) print(w io.Writer, format string) error {
	switch format {
	case "text":
		_, err := fmt.Fprintf(w, "kyklos %s, tzdata %s, Kubernetes libraries %s, %s %s\n", source{v.Version, v.Commit, v.Date}, v.TZData, v.Kubernetes, v.Go, v.Platform)
		return err
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	return fmt.Errorf("--output: must be text or json, not %q", format)
}

// moduleVersion is the version of a module that the binary is built of; "" if nobody noted it.
func moduleVersion(info *debug.BuildInfo, path string) string {
	if info == nil {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path != path {
			continue
		}
		if module.Replace != nil {
			return module.Replace.Version
		}
		return module.Version
	}
	return ""
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
