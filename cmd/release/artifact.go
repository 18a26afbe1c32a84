package main

import (
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// titleAnnotation is the name of the file that a layer is.
const titleAnnotation = "org.opencontainers.image.title"

// emptyConfig is the media type of an empty configuration in the OCI image specification.
const emptyConfig = "application/vnd.oci.empty.v1+json"

// blob is a file in a registry.
type blob struct {
	mediaType types.MediaType
	content   []byte
	title     string
}

// artifact is what a registry keeps that is not an image. It implements partial.CompressedImageCore.
type artifact struct {
	manifest, config []byte
	layers           map[v1.Hash]v1.Layer
}

// newArtifact describes a configuration and files by an OCI manifest. artifactType may be empty.
func newArtifact(artifactType string, config blob, blobs []blob, annotations map[string]string) (v1.Image, error) {
	manifest := struct {
		v1.Manifest
		ArtifactType string `json:"artifactType,omitempty"`
	}{v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: annotations}, artifactType}
	a := &artifact{config: config.content, layers: map[v1.Hash]v1.Layer{}}
	described, err := partial.Descriptor(static.NewLayer(config.content, config.mediaType))
	if err != nil {
		return nil, err
	}
	manifest.Config = *described
	for _, b := range blobs {
		layer := static.NewLayer(b.content, b.mediaType)
		described, err := partial.Descriptor(layer)
		if err != nil {
			return nil, err
		}
		if b.title != "" {
			described.Annotations = map[string]string{titleAnnotation: b.title}
		}
		a.layers[described.Digest] = layer
		manifest.Layers = append(manifest.Layers, *described)
	}
	if a.manifest, err = json.Marshal(manifest); err != nil {
		return nil, err
	}
	return partial.CompressedToImage(a)
}

func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	if layer, ok := a.layers[digest]; ok {
		return layer, nil
	}
	return nil, fmt.Errorf("no layer %s", digest)
}

// filesArtifact holds the files for download as oras push would: a layer for each, named by its title.
func filesArtifact(of release, files []file) (v1.Image, error) {
	var blobs []blob
	for _, f := range files {
		blobs = append(blobs, blob{mediaType: "application/octet-stream", content: f.content, title: f.name})
	}
	return newArtifact(filesMediaType, blob{mediaType: emptyConfig, content: []byte("{}")}, blobs, labels(of))
}
