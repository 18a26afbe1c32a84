package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var builtAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// index returns the image index that the layout has.
func index(t *testing.T) v1.ImageIndex {
	t.Helper()
	folder, err := layout.ImageIndexFromPath(filepath.Join(built, "oci"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := folder.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != version {
		t.Fatalf("the layout has %+v, want one index named %s", manifest.Manifests, version)
	}
	index, err := folder.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// image returns the layout's image for the architecture that tests build.
func image(t *testing.T) v1.Image {
	t.Helper()
	index := index(t)
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].Platform.Equals(v1.Platform{OS: "linux", Architecture: arch}) {
		t.Fatalf("the index has %+v, want one image for linux/%s", manifest.Manifests, arch)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// files returns the headers and contents of an image's files, all layers together.
func files(t *testing.T, image v1.Image) map[string]imageFile {
	t.Helper()
	archive := mutate.Extract(image)
	defer archive.Close()
	found := map[string]imageFile{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err == io.EOF {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = imageFile{header, content}
	}
}

type imageFile struct {
	header  *tar.Header
	content []byte
}

// The layout matches its own digests and has the fields that nodes and registries use.
func TestLayout(t *testing.T) {
	if err := validate.Index(index(t)); err != nil {
		t.Error(err)
	}
	config, err := image(t).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "Kyklos",
		"org.opencontainers.image.description": "A Kubernetes operator that scales workloads by the time of day and week",
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    commit,
		"org.opencontainers.image.created":     date,
	}
	want := &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: builtAt},
		// No environment, no command, no shell, no volume: the arguments are the pod's.
		Config:  v1.Config{User: "65532:65532", Entrypoint: []string{"/kyklos"}, Labels: labels},
		History: []v1.History{{Created: v1.Time{Time: builtAt}, CreatedBy: "make image", Comment: "the kyklos binary"}},
	}
	if diff := cmp.Diff(want, config, cmpopts.IgnoreFields(v1.ConfigFile{}, "RootFS")); diff != "" {
		t.Error(diff)
	}
	manifest, err := index(t).IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(labels, manifest.Annotations); diff != "" {
		t.Error(diff)
	}
}

// The image has one file: no shell, no zone files, no libraries, and nothing that a user other than root could change.
func TestOnlyTheBinary(t *testing.T) {
	files := files(t, image(t))
	got, ok := files["kyklos"]
	if !ok || len(files) != 1 {
		t.Fatalf("the image has %d files, want kyklos alone", len(files))
	}
	want := &tar.Header{Typeflag: tar.TypeReg, Name: "kyklos", Mode: 0o755, Size: int64(len(got.content)), ModTime: builtAt}
	if diff := cmp.Diff(want, got.header, cmpopts.IgnoreFields(tar.Header{}, "Format")); diff != "" {
		t.Error(diff)
	}
	if own := read(t, filepath.Join(built, "kyklos-"+arch)); own != string(got.content) {
		t.Error("the image's binary is not the one beside it")
	}
	program, err := elf.NewFile(bytes.NewReader(got.content))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary is not static: it has %s", part.Type)
		}
	}
}

// The binary runs without any other file and prints its version.
func TestVersion(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "kyklos")
	if err := os.WriteFile(path, files(t, image(t))["kyklos"].content, 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(path, "version")
	run.Env, run.Dir = []string{}, folder
	text, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "kyklos " + version + ", commit " + commit + ", " + date + ", tzdata "; !strings.HasPrefix(string(text), want) {
		t.Errorf("kyklos version prints %q, want the prefix %q", text, want)
	}
}

// The tarball for docker load has the same image under the name in config/manager.
func TestTarball(t *testing.T) {
	saved, err := tarball.ImageFromPath(filepath.Join(built, "kyklos-"+arch+".tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := saved.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if want, err := image(t).ConfigName(); err != nil || got != want {
		t.Errorf("the tarball has %s, the layout %s: %v", got, want, err)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(filepath.Join(built, "kyklos-"+arch+".tar")) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kyklos:" + version}, manifest[0].RepoTags); diff != "" {
		t.Error(diff)
	}
}
