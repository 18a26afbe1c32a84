package main

import (
	"archive/tar"
	"bytes"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// binaryPath is the only file in the image.
	binaryPath = "/kyklos"
	// user is nobody's number on a usual machine; a name would need a file of names.
	user = "65532:65532"
)

// labels are the annotations of the OCI image specification, on the image's configuration and its index.
func labels(of release) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "Kyklos",
		"org.opencontainers.image.description": "A Kubernetes operator that scales workloads by the time of day and week",
		"org.opencontainers.image.version":     of.version,
		"org.opencontainers.image.revision":    of.commit,
		"org.opencontainers.image.created":     of.date.UTC().Format(time.RFC3339),
	}
}

func platform(arch string) *v1.Platform {
	p := &v1.Platform{OS: "linux", Architecture: arch}
	if arch == "arm64" {
		p.Variant = "v8"
	}
	return p
}

// newImage is the binary on nothing, as the Dockerfile has it.
func newImage(of release, binary program) (v1.Image, error) {
	layer, err := binaryLayer(of, binary)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: of.date.UTC()}, CreatedBy: "make image", Comment: "the kyklos binary"},
	})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = "linux", binary.arch, platform(binary.arch).Variant
	file.Created = v1.Time{Time: of.date.UTC()}
	file.Config = v1.Config{User: user, Entrypoint: []string{binaryPath}, Labels: labels(of)}
	return mutate.ConfigFile(image, file)
}

func binaryLayer(of release, binary program) (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: binaryPath[1:], Mode: 0o755, Size: int64(len(binary.content)), ModTime: of.date}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary.content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// writeTarball writes the image as docker save does, by the name that config/manager has but for the tag.
func writeTarball(path, version string, image v1.Image) error {
	tag, err := name.NewTag("kyklos:" + version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(path, tag, image)
}
