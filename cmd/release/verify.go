package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sigstore/sigstore/pkg/signature"
	"sigs.k8s.io/yaml"
)

// verification checks one release in a registry.
type verification struct {
	ctx      context.Context
	registry string
	release  release
	verifier signature.Verifier
	stdout   io.Writer
}

// verify checks a release using only what the registry has: signatures, provenance, SBOMs, checksums and all digests. It
// stops at the first error. If out is not empty it then writes the files there.
func verify(ctx context.Context, registry, version, out string, verifier signature.Verifier, stdout io.Writer) error {
	v := verification{ctx, registry, release{version: version}, verifier, stdout}
	image, about, err := v.artifact(imageName, version)
	if err != nil {
		return err
	}
	if given := about.Predicate.(*slsaProvenance).BuildDefinition.ExternalParameters; given.Version != version || given.Registry != registry {
		return fmt.Errorf("the provenance is of %s for %s", given.Version, given.Registry)
	}
	if err := v.image(image); err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	chart, _, err := v.artifact(chartName, v.release.chartVersion())
	if err != nil {
		return err
	}
	if err := v.chart(chart, image); err != nil {
		return fmt.Errorf("%s: %w", chart, err)
	}
	files, _, err := v.artifact(filesName, version)
	if err != nil {
		return err
	}
	contents, err := v.files(files, about)
	if err != nil {
		return fmt.Errorf("%s: %w", files, err)
	}
	for name, content := range contents {
		if out != "" {
			err = errors.Join(err, writeFile(filepath.Join(out, name), content))
		}
	}
	return err
}

func (v verification) ok(format string, args ...any) {
	fmt.Fprintf(v.stdout, "ok: "+format+"\n", args...)
}

// artifact resolves a tag and checks its signature and its provenance.
func (v verification) artifact(repository, tag string) (name.Digest, statement, error) {
	reference, err := name.NewTag(v.registry + "/" + repository + ":" + tag)
	if err != nil {
		return name.Digest{}, statement{}, err
	}
	head, err := remote.Head(reference, remoteOptions(v.ctx)...)
	if err != nil {
		return name.Digest{}, statement{}, err
	}
	digest := reference.Digest(head.Digest.String())
	if err := v.signature(digest); err != nil {
		return digest, statement{}, fmt.Errorf("%s: signature: %w", digest, err)
	}
	about := &slsaProvenance{}
	statements, err := v.attestations(digest, provenanceType, func() any { return about })
	if err != nil {
		return digest, statement{}, fmt.Errorf("%s: provenance: %w", digest, err)
	}
	if want, err := statements[0].digestOf(repository); err != nil || want != head.Digest.Hex {
		return digest, statement{}, errors.Join(err, fmt.Errorf("%s: the provenance is about another digest: %s", digest, want))
	}
	v.ok("%s is signed and has provenance", digest)
	return digest, statements[0], nil
}

// image checks every byte of the image, and that its SBOMs are about its binaries.
func (v verification) image(digest name.Digest) error {
	index, err := remote.Index(digest, remoteOptions(v.ctx)...)
	if err != nil {
		return err
	}
	if err := validate.Index(index); err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	lists, err := v.attestations(digest, sbomType, func() any { return &cyclonedx.BOM{} })
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, list := range lists {
		if own := list.Predicate.(*cyclonedx.BOM).Metadata; own != nil && own.Component != nil && own.Component.Hashes != nil {
			listed[(*own.Component.Hashes)[0].Value] = true
		}
	}
	for _, m := range manifest.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			return err
		}
		binary, err := binaryOf(image)
		if err != nil {
			return err
		}
		if !listed[sha256Hex(binary)] {
			return fmt.Errorf("no SBOM is about the binary for %s", m.Platform)
		}
		v.ok("%s: the image is complete and has an SBOM", m.Platform)
	}
	return nil
}

// binaryOf is the only file of an image.
func binaryOf(image v1.Image) ([]byte, error) {
	archive := mutate.Extract(image)
	defer archive.Close()
	return fileInTar(archive, binaryPath[1:])
}

// chart checks that the chart installs the image.
func (v verification) chart(digest, image name.Digest) error {
	artifact, err := remote.Image(digest, remoteOptions(v.ctx)...)
	if err != nil {
		return err
	}
	manifest, err := artifact.Manifest()
	if err != nil {
		return err
	}
	if len(manifest.Layers) != 1 {
		return fmt.Errorf("%d layers, not 1", len(manifest.Layers))
	}
	packed, err := layerContent(artifact, manifest.Layers[0].Digest)
	if err != nil {
		return err
	}
	text, err := fileInArchive(packed, "kyklos/values.yaml")
	if err != nil {
		return err
	}
	var values struct {
		Image struct{ Repository, Digest string }
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return err
	}
	if got := values.Image.Repository + "@" + values.Image.Digest; got != image.String() {
		return fmt.Errorf("the chart installs %s", got)
	}
	v.ok("the chart installs this image")
	return nil
}

// files checks the files for download against their checksums and the provenance, and returns them.
func (v verification) files(digest name.Digest, about statement) (contents map[string][]byte, err error) {
	artifact, err := remote.Image(digest, remoteOptions(v.ctx)...)
	if err != nil {
		return nil, err
	}
	manifest, err := artifact.Manifest()
	if err != nil {
		return nil, err
	}
	contents = map[string][]byte{}
	for _, described := range manifest.Layers {
		if contents[described.Annotations[titleAnnotation]], err = layerContent(artifact, described.Digest); err != nil {
			return nil, err
		}
	}
	sums, names, err := parseChecksums(contents[sumsFile])
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if sum := sha256Hex(contents[name]); contents[name] == nil || sum != sums[name] {
			return nil, fmt.Errorf("%s does not have the checksum in %s", name, sumsFile)
		}
	}
	for name, content := range contents {
		if want, err := about.digestOf(name); err != nil || want != sha256Hex(content) {
			return nil, errors.Join(err, fmt.Errorf("%s is not what the provenance is about", name))
		}
	}
	if missing := len(about.Subject) - 3 - len(contents); missing != 0 {
		return nil, fmt.Errorf("%d files of the provenance are missing; there are %v", missing, slices.Sorted(maps.Keys(contents)))
	}
	v.ok("%d files have their checksums and are those of the provenance", len(contents))
	return contents, nil
}
