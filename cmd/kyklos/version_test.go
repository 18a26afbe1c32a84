package main

import (
	"runtime/debug"
	"testing"
)

// What the linker says counts as a whole: a version of one build beside the commit of another would lie.
func TestSource(t *testing.T) {
	noted := &debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "beef"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
	}}
	for _, test := range []struct {
		linked source
		info   *debug.BuildInfo
		want   string
	}{
		{source{"v1.2.3", "cafe", "2026-11-21T15:00:00Z"}, nil, "v1.2.3, commit cafe, 2026-11-21T15:00:00Z"},
		{source{"v1.2.3", "cafe", "2026-11-21T15:00:00Z"}, noted, "v1.2.3, commit cafe, 2026-11-21T15:00:00Z"},
		{source{version: "v1.2.3"}, noted, "v1.2.3"},
		{source{commit: "cafe"}, nil, "(devel), commit cafe"},
		{source{}, noted, "v0.9.0, commit beef, 2026-01-02T03:04:05Z"},
		{source{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		{source{}, &debug.BuildInfo{}, "(devel)"},
		{source{}, nil, "(devel)"},
	} {
		if got := test.linked.orFrom(test.info).String(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.linked, got, test.want)
		}
	}
}
