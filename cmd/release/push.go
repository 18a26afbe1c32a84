package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// cosign stores signatures and attestations as images, under tags derived from the digest that they are about.
const (
	signatureTag        = ".sig"
	attestationTag      = ".att"
	simpleSigningType   = "application/vnd.dev.cosign.simplesigning.v1+json"
	envelopeType        = "application/vnd.dsse.envelope.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
	predicateAnnotation = "predicateType"
)

func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}

// target is one of the three things that a release has in a registry.
type target struct {
	tag     name.Tag
	content remote.Taggable
	digest  v1.Hash
}

// push writes the image, the chart and the files to the registry, each with a signature and attestations. The tags come
// last, so that a tag never points to unsigned content.
func push(ctx context.Context, p packed, registry string, signer signature.SignerVerifier, stdout io.Writer) error {
	if p.registry != registry {
		return fmt.Errorf("the release was packed for the registry %q, not for %q", p.registry, registry)
	}
	targets, err := p.targets()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.isNew(ctx); err != nil {
			return err
		}
		attestations := [][]byte{p.envelope}
		if t.content == targets[0].content {
			lists, err := p.sbomEnvelopes(signer)
			if err != nil {
				return err
			}
			attestations = append(attestations, lists...)
		}
		if err := t.push(ctx, attestations, signer); err != nil {
			return fmt.Errorf("pushing %s: %w", t.tag, err)
		}
		fmt.Fprintf(stdout, "%s@%s\n", t.tag, t.digest)
	}
	return nil
}

// targets are the image, the chart and the files, in this order, as the provenance has them.
func (p packed) targets() (targets []target, err error) {
	index, err := p.index()
	if err != nil {
		return nil, err
	}
	chart, err := chartArtifact(p.release, p.files[0])
	if err != nil {
		return nil, err
	}
	files, err := filesArtifact(p.release, p.files)
	if err != nil {
		return nil, err
	}
	for _, t := range []struct {
		name, tag string
		content   interface {
			remote.Taggable
			Digest() (v1.Hash, error)
		}
	}{{imageName, p.version, index}, {chartName, p.chartVersion(), chart}, {filesName, p.version, files}} {
		tag, err := name.NewTag(p.registry + "/" + t.name + ":" + t.tag)
		if err != nil {
			return nil, err
		}
		digest, err := t.content.Digest()
		if err != nil {
			return nil, err
		}
		if want, err := p.statement.digestOf(t.name); err != nil || want != digest.Hex {
			return nil, errors.Join(err, fmt.Errorf("%s has changed since it was packed", t.name))
		}
		targets = append(targets, target{tag, t.content, digest})
	}
	return targets, nil
}

// index is the image of the packed layout.
func (p packed) index() (v1.ImageIndex, error) {
	folder, err := layout.ImageIndexFromPath(filepath.Join(p.folder, layoutFolder))
	if err != nil {
		return nil, err
	}
	manifest, err := folder.IndexManifest()
	if err != nil {
		return nil, err
	}
	return folder.ImageIndex(manifest.Manifests[0].Digest)
}

// sbomEnvelopes are the signed SBOMs of the image's platforms. The subjects of each are the image and its platform's manifest.
func (p packed) sbomEnvelopes(signer signature.Signer) (envelopes [][]byte, err error) {
	index, err := p.index()
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	digest, err := index.Digest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		list, err := p.file(program{os: m.Platform.OS, arch: m.Platform.Architecture}.base(p.version) + ".cdx.json")
		if err != nil {
			return nil, err
		}
		about := []subject{subjectOf(imageName, digest), subjectOf(imageName+"/"+m.Platform.Architecture, m.Digest)}
		signed, err := envelope(statement{statementType, about, sbomType, json.RawMessage(list)}, signer)
		if err != nil {
			return nil, err
		}
		envelopes = append(envelopes, signed)
	}
	return envelopes, nil
}

func (p packed) file(name string) ([]byte, error) {
	for _, f := range p.files {
		if f.name == name {
			return f.content, nil
		}
	}
	return nil, fmt.Errorf("the release has no file %s", name)
}

// isNew fails if the tag already names something else: a published version never changes.
func (t target) isNew(ctx context.Context) error {
	existing, err := remote.Head(t.tag, remoteOptions(ctx)...)
	if missing, ok := errors.AsType[*transport.Error](err); ok && missing.StatusCode == http.StatusNotFound {
		return nil
	}
	if err == nil && existing.Digest != t.digest {
		err = fmt.Errorf("%s is already published as %s; choose another version", t.tag, existing.Digest)
	}
	return err
}

func (t target) push(ctx context.Context, attestations [][]byte, signer signature.Signer) error {
	claim, err := payload.Cosign{Image: t.tag.Digest(t.digest.String())}.MarshalJSON()
	if err != nil {
		return err
	}
	signed, err := signer.SignMessage(bytes.NewReader(claim))
	if err != nil {
		return err
	}
	signatures, err := attach(empty.Image, claim, simpleSigningType, map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(signed)})
	if err != nil {
		return err
	}
	attested := empty.Image
	for _, envelope := range attestations {
		if attested, err = attach(attested, envelope, envelopeType, map[string]string{signatureAnnotation: ""}); err != nil {
			return err
		}
	}
	digest := t.tag.Digest(t.digest.String())
	if err := write(ctx, digest, t.content); err != nil {
		return err
	}
	return errors.Join(write(ctx, beside(digest, attestationTag), attested), write(ctx, beside(digest, signatureTag), signatures),
		remote.Tag(t.tag, t.content, remoteOptions(ctx)...))
}

// write uploads an image or an index.
func write(ctx context.Context, to name.Reference, content remote.Taggable) error {
	if index, ok := content.(v1.ImageIndex); ok {
		return remote.WriteIndex(to, index, remoteOptions(ctx)...)
	}
	return remote.Write(to, content.(v1.Image), remoteOptions(ctx)...)
}

// beside is the tag at which cosign finds signatures or attestations of a digest.
func beside(of name.Digest, suffix string) name.Tag {
	hash, _ := v1.NewHash(of.DigestStr()) // a digest's is always one
	return of.Tag(hash.Algorithm + "-" + hash.Hex + suffix)
}

// attach appends a layer to an image of signatures or attestations.
func attach(to v1.Image, content []byte, mediaType types.MediaType, annotations map[string]string) (v1.Image, error) {
	to = mutate.ConfigMediaType(mutate.MediaType(to, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Append(to, mutate.Addendum{Layer: static.NewLayer(content, mediaType), Annotations: annotations})
}
