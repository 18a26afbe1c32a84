package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// binaryPath is the only file in the image.
	binaryPath = "/kyklos"
	// user is a UID that hosts do not use; a user name would need /etc/passwd in the image.
	user = "65532:65532"
)

// packImage writes the files of make image: an OCI layout of all binaries and, for each binary, a tarball for docker load
// and ctr images import, and an SBOM. It prints the image's digest.
func packImage(of release, out string, programs []program, stdout io.Writer) error {
	index, err := newIndex(of, programs)
	if err != nil {
		return err
	}
	for i, binary := range programs {
		image, err := imageAt(index, i)
		if err != nil {
			return err
		}
		if err := writeTarball(filepath.Join(out, "kyklos-"+binary.arch+".tar"), of.version, image); err != nil {
			return fmt.Errorf("writing a tarball of %s: %w", binary.path, err)
		}
		list, err := sbom(of, binary)
		if err != nil {
			return fmt.Errorf("writing the SBOM of %s: %w", binary.path, err)
		}
		if err := os.WriteFile(filepath.Join(out, "kyklos-"+binary.arch+".cdx.json"), list, 0o644); err != nil {
			return err
		}
	}
	digest, err := writeLayout(filepath.Join(out, "oci"), of, index)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "kyklos:%s %s in %s\n", of.version, digest, filepath.Join(out, "oci"))
	return nil
}

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

// newIndex is the image for the architectures of all programs, which must be for Linux.
func newIndex(of release, programs []program) (v1.ImageIndex, error) {
	if len(programs) == 0 {
		return nil, fmt.Errorf("name at least one binary for Linux")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, binary := range programs {
		if binary.os != "linux" {
			return nil, fmt.Errorf("%s: must be built for linux, not for %s", binary.path, binary.os)
		}
		image, err := newImage(of, binary)
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", binary.path, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform(binary.arch)}})
	}
	return mutate.Annotations(index, labels(of)).(v1.ImageIndex), nil
}

// newImage is the binary from scratch, as in the Dockerfile.
func newImage(of release, binary program) (v1.Image, error) {
	archive, err := tarOf([]file{{name: binaryPath[1:], content: binary.content, mode: 0o755}}, of.date)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
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
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = "linux", binary.arch, platform(binary.arch).Variant
	config.Created = v1.Time{Time: of.date.UTC()}
	config.Config = v1.Config{User: user, Entrypoint: []string{binaryPath}, Labels: labels(of)}
	return mutate.ConfigFile(image, config)
}

// imageAt is one of an index's images.
func imageAt(index v1.ImageIndex, i int) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	return index.Image(manifest.Manifests[i].Digest)
}

// writeTarball writes the image as docker save does, under the name in config/manager with the version as its tag.
func writeTarball(path, version string, image v1.Image) error {
	tag, err := name.NewTag("kyklos:" + version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(path, tag, image)
}

// writeLayout replaces the folder by an OCI layout of the index and returns the index's digest: the name
// by which a registry serves it.
func writeLayout(folder string, of release, index v1.ImageIndex) (v1.Hash, error) {
	if err := os.RemoveAll(folder); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return v1.Hash{}, err
	}
	// The name by which skopeo and other readers of layouts pick one of several images.
	reference := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": of.version})
	if err := path.AppendIndex(index, reference); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}
