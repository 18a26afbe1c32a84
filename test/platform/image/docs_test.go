package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// page returns docs/image.md.
func page(t *testing.T) string {
	t.Helper()
	return read(t, filepath.Join(root, "docs", "image.md"))
}

var tableFile = regexp.MustCompile("`([a-z0-9./-]+)`[^|]*\\|")

// What the page says is in bin/image is what make image has made.
func TestPageListsTheFiles(t *testing.T) {
	listed := map[string]bool{}
	for line := range strings.Lines(page(t)) {
		if match := tableFile.FindStringSubmatch(line); strings.HasPrefix(line, "| `") && match != nil {
			listed[strings.TrimSuffix(match[1], "/")] = true
		}
	}
	entries, err := os.ReadDir(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !listed[entry.Name()] {
			t.Errorf("docs/image.md does not list %s", entry.Name())
		}
		delete(listed, entry.Name())
	}
	for name := range listed {
		t.Errorf("docs/image.md lists %s, which make image does not make", name)
	}
}

// The page's commands push the image to a registry, which then has it under the digest that make image
// printed, and take the same binary out of it again.
func TestPageCommandsPushAndExport(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	run := func(prefix string) string {
		t.Helper()
		_, command, found := strings.Cut(page(t), "\n    "+prefix)
		if !found {
			t.Fatalf("docs/image.md has no command %q", prefix)
		}
		command, _, _ = strings.Cut(command, "\n")
		folder, err := filepath.Abs(built)
		if err != nil {
			t.Fatal(err)
		}
		shell := exec.Command("sh", "-c", prefix+strings.NewReplacer("../../../bin/image", folder, "v1.2.3", version).Replace(command))
		shell.Dir = root
		shell.Env = append(os.Environ(), "REGISTRY="+strings.TrimPrefix(server.URL, "http://"))
		output, err := shell.Output()
		if err != nil {
			t.Fatalf("%s: %v", shell, err)
		}
		return string(output)
	}
	digest, err := index(t).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if pushed := run("go -C test/platform/image tool crane push"); !strings.HasSuffix(strings.TrimSpace(pushed), "/kyklos@"+digest.String()) {
		t.Errorf("pushed as %s, want %s", pushed, digest)
	}
	sum := run("go -C test/platform/image tool crane export")
	if want := fmt.Sprint(sums(t, built)["kyklos-"+arch]); !strings.HasPrefix(sum, want) {
		t.Errorf("the binary taken out of the registry is %s, want %s", sum, want)
	}
}
