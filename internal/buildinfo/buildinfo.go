// Package buildinfo has the versions of the binary and its parts.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"

	"kyklos.io/kyklos/internal/timecalc"
)

// The linker sets these for a release: -X kyklos.io/kyklos/internal/buildinfo.version=v1.2.3, and so on. date is the
// commit's (RFC 3339), so that builds are reproducible.
var version, commit, date string

// Info lists the versions of a binary and its parts. Version, TZData, Go and Platform are always set.
type Info struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is the commit's, RFC 3339.
	Date string `json:"date,omitempty"`
	// Kubernetes is the version of the Kubernetes libraries, v0.37.2 for those of Kubernetes 1.37.2.
	Kubernetes string `json:"kubernetes,omitempty"`
	TZData     string `json:"tzdata"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

// Read returns the information that the linker and the Go command stored in this binary.
func Read() Info {
	info, _ := debug.ReadBuildInfo()
	return read(Info{Version: version, Commit: commit, Date: date}, info)
}

// Version returns the version of Kyklos, "(devel)" if it is unknown.
func Version() string { return Read().Version }

// Source returns version, commit and date as one text, without those that are unknown.
func (i Info) Source() string {
	parts := []string{i.Version}
	if i.Commit != "" {
		parts = append(parts, "commit "+i.Commit)
	}
	if i.Date != "" {
		parts = append(parts, i.Date)
	}
	return strings.Join(parts, ", ")
}

// read completes linked with the Go command's information, also the version if the linker set none, as after go install.
func read(linked Info, build *debug.BuildInfo) Info {
	if build != nil {
		if linked == (Info{}) {
			linked.Version = build.Main.Version
			for _, setting := range build.Settings {
				switch setting.Key {
				case "vcs.revision":
					linked.Commit = setting.Value
				case "vcs.time":
					linked.Date = setting.Value
				}
			}
		}
		linked.Kubernetes = moduleVersion(build, "k8s.io/apimachinery")
	}
	if linked.Version == "" {
		linked.Version = "(devel)"
	}
	linked.TZData, linked.Go, linked.Platform = timecalc.TZDataVersion(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	return linked
}

func moduleVersion(info *debug.BuildInfo, path string) string {
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
