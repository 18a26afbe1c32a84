package kubelet

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPathsOfMountsBecomeTheHosts(t *testing.T) {
	p := newPaths(mounted{"/data", "/h/1"}, mounted{"/data/deep/", "/h/2"}, mounted{"/dev/termination-log", "/h/3"})
	for text, want := range map[string]string{
		"":                              "",
		"/data":                         "/h/1",
		"/data/":                        "/h/1/",
		"/data/a b":                     "/h/1/a b",
		"--volume=/data":                "--volume=/h/1",
		"/data/deep":                    "/h/2",
		"/data/deep/er":                 "/h/2/er",
		"/data/deeper":                  "/h/1/deeper",
		"/database":                     "/database",
		"/data-1":                       "/data-1",
		"/data.txt":                     "/data.txt",
		"/srv/data":                     "/srv/data",
		"a/data":                        "a/data",
		"./data":                        "./data",
		"https://host/data":             "https://host/data",
		"s3://data":                     "s3://data",
		"cat '/data/x' >/data/deep/y":   "cat '/h/1/x' >/h/2/y",
		"/data:/data/deep":              "/h/1:/h/2",
		"echo no >/dev/termination-log": "echo no >/h/3",
		"/dev/termination-logs":         "/dev/termination-logs",
		"/データ":                          "/データ",
		"/dataデ":                        "/dataデ",
	} {
		if got := p.host(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Whatever a text is, without a mount's path in it nothing changes; and a mount of the whole text's first
// path changes that prefix and nothing else.
func TestPathsChangeNothingElse(t *testing.T) {
	p := newPaths(mounted{"/data", "/h/1"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z/ =.:]{0,20}`).Draw(t, "text")
		if got := p.host(text); !strings.Contains(text, "/data") && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if got, want := p.host("/data/"+text), "/h/1/"+text; !strings.Contains(text, "/data") && got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
