package main

import (
	"fmt"
	"io"
	"log"
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

// The page lists the files in bin/image, and no others.
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

// The page's commands push the image to a registry under the digest that make image printed, and export the same binary
// from there.
func TestPageCommandsPushAndExport(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
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
		shell := exec.Command("sh", "-c", prefix+strings.NewReplacer("../../bin/image", folder, "v1.2.3", version).Replace(command))
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
	if pushed := run("go -C cmd/release tool crane push"); !strings.HasSuffix(strings.TrimSpace(pushed), "/kyklos@"+digest.String()) {
		t.Errorf("pushed as %s, want %s", pushed, digest)
	}
	sum := run("go -C cmd/release tool crane export")
	if want := fmt.Sprint(sums(t, built)["kyklos-"+arch]); !strings.HasPrefix(sum, want) {
		t.Errorf("the binary taken out of the registry is %s, want %s", sum, want)
	}
}

// consoleBlock is a block of commands, and the comment above it if there is one.
var consoleBlock = regexp.MustCompile("(?ms)(?:^<!-- (needs cosign) -->\n)?^```console\n(.*?)^```$")

// Every command of docs/releasing.md works, in the order of the page: a key, a release, and its verification. Only the folders
// and the registry are the test's own.
func TestReleasingPage(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("RELEASE_DIR", filepath.Join(folder, "release"))
	paths := strings.NewReplacer("bin/release.", folder+"/release.", "bin/release/", folder+"/release/", "bin/release ", folder+"/release ",
		"bin/downloads", folder+"/downloads", "helm install", "helm install --dry-run=client --plain-http")
	registry := registryHost + "/releasing"
	page := read(t, filepath.Join(root, "docs/releasing.md"))
	ran := 0
	for _, block := range consoleBlock.FindAllStringSubmatch(page, -1) {
		if block[1] != "" && os.Getenv("COSIGN_BIN") == "" {
			continue
		}
		for line := range strings.Lines(block[2]) {
			command := paths.Replace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
			if variable := map[string]string{"helm": "HELM_BIN", "cosign": "COSIGN_BIN"}[strings.Fields(command)[0]]; variable != "" {
				if os.Getenv(variable) == "" {
					continue
				}
				command = os.Getenv(variable) + " " + strings.Join(strings.Fields(command)[1:], " ")
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", command)
			shell.Dir, shell.Env = root, append(os.Environ(), "REGISTRY="+registry, "PLATFORMS=linux/"+arch, "COMMIT="+commit, "DATE="+date,
				"HELM_CACHE_HOME="+folder, "HELM_CONFIG_HOME="+folder, "HELM_DATA_HOME="+folder)
			if text, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, text)
			}
			ran++
		}
	}
	if ran < 7 {
		t.Errorf("only %d commands were run", ran)
	}
	for _, name := range []string{sumsFile, "kyklos-schemas-v0.1.0.tar.gz", "kyklos.yaml"} {
		if _, err := os.Stat(filepath.Join(folder, "downloads", name)); err != nil {
			t.Error(err)
		}
	}
	testReleaseFiles(t, section(page, "In `bin/release`:"), filepath.Join(folder, "release"))
}

// testReleaseFiles holds the page's table of files against a release.
func testReleaseFiles(t *testing.T, table, folder string) {
	t.Helper()
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range regexp.MustCompile("`([A-Za-z0-9._-]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[strings.ReplaceAll(match[1], "OS-ARCH", "linux-"+arch)] = true
			}
		}
	}
	delete(listed, ".zip")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !listed[entry.Name()] && entry.Name() != "SHA256SUMS.der" {
			t.Errorf("docs/releasing.md does not list %s", entry.Name())
		}
		delete(listed, entry.Name())
	}
	for name := range listed {
		t.Errorf("docs/releasing.md lists %s, which make release does not make", name)
	}
}

// section is a page's text between a line and the next blank line.
func section(page, line string) string {
	_, text, _ := strings.Cut(page, line+"\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// The schemas are found by the pattern that the page gives to kubeconform.
func TestSchemaLocation(t *testing.T) {
	if pattern := "schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"; !strings.Contains(read(t, filepath.Join(root, "docs/releasing.md")), pattern) {
		t.Errorf("the page does not show %s", pattern)
	}
}
