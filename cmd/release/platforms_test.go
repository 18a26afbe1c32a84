package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// platforms are those that make release builds by default.
func platforms(t *testing.T) []string {
	t.Helper()
	for line := range strings.Lines(read(t, filepath.Join(root, "Makefile"))) {
		if list, ok := strings.CutPrefix(line, "PLATFORMS ?= "); ok {
			return strings.Fields(list)
		}
	}
	t.Fatal("the Makefile has no PLATFORMS")
	return nil
}

// smallPrograms are programs that do nothing, because Kyklos itself takes long to build and to pack.
func smallPrograms(t *testing.T, platforms ...string) (programs []program) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module kyklos.io/kyklos\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		path := filepath.Join(folder, goos+"-"+goarch)
		build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
		build.Dir, build.Env = folder, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", platform, err, text)
		}
		built, err := readProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		if built.os != goos || built.arch != goarch {
			t.Fatalf("%s is read as %s/%s", platform, built.os, built.arch)
		}
		programs = append(programs, built)
	}
	return programs
}

// krewPlugin has the fields of a krew manifest that are ours; a field beyond them is misspelt.
type krewPlugin struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, Homepage, ShortDescription, Description string
		Platforms                                        []struct {
			Selector         struct{ MatchLabels map[string]string }
			URI, SHA256, Bin string
		}
	}
}

// All platforms are in the image or in archives, and the krew manifest leads to the binary in each archive.
func TestAllPlatforms(t *testing.T) {
	programs, out := smallPrograms(t, platforms(t)...), t.TempDir()
	of := release{version: version, commit: commit, date: builtAt, registry: "registry.example.com/a", downloads: "https://example.com/" + version, builder: "https://example.com/builder"}
	if err := pack(of, root, out, programs, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	p, err := readPacked(out)
	if err != nil {
		t.Fatal(err)
	}
	index, err := p.index()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, m := range manifest.Manifests {
		images = append(images, m.Platform.String())
	}
	if want := []string{"linux/amd64", "linux/arm64/v8"}; !slices.Equal(images, want) {
		t.Errorf("the image is for %v, want %v", images, want)
	}
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict([]byte(read(t, filepath.Join(out, "kyklos.yaml"))), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Kind != "Plugin" || plugin.Metadata.Name != "kyklos" || plugin.Spec.Version != version || plugin.Spec.ShortDescription == "" || len(plugin.Spec.ShortDescription) > 50 {
		t.Errorf("%+v", plugin)
	}
	var listed []string
	for i, platform := range plugin.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		listed = append(listed, labels["os"]+"/"+labels["arch"])
		archive, err := p.file(strings.TrimPrefix(platform.URI, of.downloads+"/"))
		if err != nil || platform.SHA256 != sha256Hex(archive) {
			t.Errorf("%s: %v, %s", platform.URI, err, platform.SHA256)
		}
		binary, err := unpack(platform.URI, archive, platform.Bin)
		if err != nil || !bytes.Equal(binary, programs[i].content) {
			t.Errorf("%s has no such %s: %v", platform.URI, platform.Bin, err)
		}
		if _, err := p.file(programs[i].base(version) + ".cdx.json"); err != nil {
			t.Error(err)
		}
	}
	if want := platforms(t); !slices.Equal(listed, want) {
		t.Errorf("krew has %v, want %v", listed, want)
	}
}

func unpack(uri string, archive []byte, name string) ([]byte, error) {
	if !strings.HasSuffix(uri, ".zip") {
		return fileInArchive(archive, name)
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	opened, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	var content bytes.Buffer
	_, err = content.ReadFrom(opened)
	return content.Bytes(), err
}

// Without a place to download from there is no krew manifest, and without a registry the chart leaves its image alone.
func TestPackWithoutPlaces(t *testing.T) {
	of := release{version: version, commit: commit, date: builtAt, builder: "https://example.com/builder"}
	out := t.TempDir()
	if err := pack(of, root, out, smallPrograms(t, "linux/"+arch), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "kyklos.yaml")); !os.IsNotExist(err) {
		t.Errorf("a krew manifest: %v", err)
	}
	values, err := fileInArchive([]byte(read(t, filepath.Join(out, "kyklos-"+of.chartVersion()+".tgz"))), "kyklos/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  repository: kyklos\n", "  tag: " + version + "\n", "  digest: \"\"\n"} {
		if !bytes.Contains(values, []byte(line)) {
			t.Errorf("no %q in\n%s", line, values)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		flags map[string]string
		want  string
	}{
		"no version":     {map[string]string{"version": ""}, "--version must be given"},
		"not a version":  {map[string]string{"version": "1.2.3"}, "must be a version such as v0.1.0"},
		"build metadata": {map[string]string{"version": "v1.2.3+x"}, "must be a version such as v0.1.0"},
		"no binary":      {nil, "at least one binary"},
	} {
		args := []string{"pack"}
		for flag, value := range map[string]string{"version": version, "commit": commit, "date": date, "builder": "x", "source": root, "out": t.TempDir()} {
			if given, ok := test.flags[flag]; ok {
				value = given
			}
			args = append(args, fmt.Sprintf("--%s=%s", flag, value))
		}
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if err := run(context.Background(), nil, &bytes.Buffer{}); err == nil {
		t.Error("no command is accepted")
	}
}

// Wrong arguments are refused before anything is built.
func TestMakeReleaseRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"Only a signed release is pushed": {"VERSION=v1.2.3", "REGISTRY=localhost:1/x", "KEY="},
		"Give a version such as":          {"VERSION=main"},
	} {
		err := runMake(root, append([]string{"release", "COMMIT=" + commit, "DATE=" + date}, args...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
}

// The binary for Windows must not use system calls of Unix. Building Kyklos again would take too long, so this checks the
// imports of its packages.
func TestWindowsImports(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}} {{.Imports}}{{end}}", "./cmd/kyklos")
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=windows", "GOFLAGS=-buildvcs=false")
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "kyklos.io/") && strings.Contains(line, "golang.org/x/sys/unix") {
			t.Error(strings.Fields(line)[0], "cannot be built for Windows")
		}
	}
}
