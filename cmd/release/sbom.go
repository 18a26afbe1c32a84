package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// specVersion is the newest that grype, trivy and Dependency-Track all read.
const specVersion = cyclonedx.SpecVersion1_5

// sbom lists the modules that the linker recorded in the binary: not all of go.mod, but what was linked, each with its
// hash in go.sum.
func sbom(of release, binary program) ([]byte, error) {
	own := component(cyclonedx.ComponentTypeApplication, binary.info.Main.Path, of.version)
	own.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sha256Hex(binary.content)}}
	// Vulnerability scanners know the standard library by this name and a version without the prefix go.
	parts := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(binary.info.GoVersion, "go"))}
	needs := []string{parts[0].BOMRef}
	for _, module := range binary.info.Deps {
		part, err := modulePart(module)
		if err != nil {
			return nil, err
		}
		parts, needs = append(parts, part), append(needs, part.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: of.date.UTC().Format(time.RFC3339), Component: &own}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: own.BOMRef, Dependencies: &needs}}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, specVersion); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// modulePart follows a replace directive: the binary contains the replacement.
func modulePart(module *debug.Module) (cyclonedx.Component, error) {
	if module.Replace != nil {
		module = module.Replace
	}
	part := component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version)
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
	if err != nil || len(sum) == 0 {
		return part, fmt.Errorf("module %s has no sum: build it from go.mod without replacements by folders", module.Path)
	}
	part.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	return part, nil
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
