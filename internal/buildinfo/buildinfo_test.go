package buildinfo

import (
	"runtime/debug"
	"testing"
)

// The linker's values count as a whole: the version of one build with the commit of another would be wrong.
func TestSource(t *testing.T) {
	noted := &debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "beef"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
	}}
	for _, test := range []struct {
		linked Info
		info   *debug.BuildInfo
		want   string
	}{
		{Info{Version: "v1.2.3", Commit: "cafe", Date: "2026-11-21T15:00:00Z"}, nil, "v1.2.3, commit cafe, 2026-11-21T15:00:00Z"},
		{Info{Version: "v1.2.3", Commit: "cafe", Date: "2026-11-21T15:00:00Z"}, noted, "v1.2.3, commit cafe, 2026-11-21T15:00:00Z"},
		{Info{Version: "v1.2.3"}, noted, "v1.2.3"},
		{Info{Commit: "cafe"}, nil, "(devel), commit cafe"},
		{Info{}, noted, "v0.9.0, commit beef, 2026-01-02T03:04:05Z"},
		{Info{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		{Info{}, &debug.BuildInfo{}, "(devel)"},
		{Info{}, nil, "(devel)"},
	} {
		if got := read(test.linked, test.info).Source(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.linked, got, test.want)
		}
	}
}

func TestVersionsOfLibraries(t *testing.T) {
	of := read(Info{}, &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Deps: []*debug.Module{
		{Path: "k8s.io/api", Version: "v9"}, {Path: "k8s.io/apimachinery", Version: "v0.37.2"},
	}})
	if of.Kubernetes != "v0.37.2" || of.TZData == "" {
		t.Errorf("%+v", of)
	}
	replaced := &debug.BuildInfo{Deps: []*debug.Module{{Path: "k8s.io/apimachinery", Version: "v0.1.0", Replace: &debug.Module{Version: "v0.2.0"}}}}
	if got := read(Info{}, replaced).Kubernetes; got != "v0.2.0" {
		t.Errorf("a replaced library is %s", got)
	}
}
