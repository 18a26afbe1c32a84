package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// signature checks that one of the digest's signatures is by the key and names the digest and its repository.
func (v verification) signature(digest name.Digest) error {
	return v.attached(digest, signatureTag, func(content []byte, annotations map[string]string) error {
		signed, err := base64.StdEncoding.DecodeString(annotations[signatureAnnotation])
		if err != nil {
			return err
		}
		if err := v.verifier.VerifySignature(bytes.NewReader(signed), bytes.NewReader(content)); err != nil {
			return err
		}
		var claim payload.Cosign
		if err := claim.UnmarshalJSON(content); err != nil {
			return err
		}
		if claim.Image.DigestStr() != digest.DigestStr() || claim.Image.Repository.Name() != digest.Repository.Name() {
			return fmt.Errorf("the signature is about %s", claim.Image)
		}
		return nil
	})
}

// attestations returns the digest's statements of a type. All that is attached must be by the key and about the digest.
func (v verification) attestations(digest name.Digest, predicateType string, newPredicate func() any) (found []statement, err error) {
	err = v.attached(digest, attestationTag, func(content []byte, _ map[string]string) error {
		s, err := openEnvelope(content, v.verifier, new(any))
		if err != nil {
			return err
		}
		isSubject := func(about subject) bool { return "sha256:"+about.Digest["sha256"] == digest.DigestStr() }
		if !slices.ContainsFunc(s.Subject, isSubject) {
			return fmt.Errorf("the attestation %s is not about it", s.PredicateType)
		}
		if s.PredicateType == predicateType {
			s, err = openEnvelope(content, v.verifier, newPredicate())
			found = append(found, s)
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no attestation %s", predicateType)
	}
	return found, err
}

// attached calls check with each layer attached to a digest, and fails if there is none.
func (v verification) attached(digest name.Digest, suffix string, check func([]byte, map[string]string) error) error {
	image, err := remote.Image(beside(digest, suffix), remoteOptions(v.ctx)...)
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	if len(manifest.Layers) == 0 {
		return fmt.Errorf("%s has none", beside(digest, suffix))
	}
	for _, described := range manifest.Layers {
		content, err := layerContent(image, described.Digest)
		if err != nil {
			return err
		}
		if err := check(content, described.Annotations); err != nil {
			return err
		}
	}
	return nil
}

// layerContent downloads a layer as it is stored, which fails if it does not have its digest.
func layerContent(image v1.Image, digest v1.Hash) ([]byte, error) {
	layer, err := image.LayerByDigest(digest)
	if err != nil {
		return nil, err
	}
	reader, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
