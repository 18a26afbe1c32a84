package main

import (
	_ "embed"
	"strings"
	"text/template"
)

// krewArchive is a program and the archive that it is downloaded in.
type krewArchive struct {
	program
	packed file
}

func (a krewArchive) OS() string         { return a.os }
func (a krewArchive) Arch() string       { return a.arch }
func (a krewArchive) Name() string       { return a.packed.name }
func (a krewArchive) SHA256() string     { return sha256Hex(a.packed.content) }
func (a krewArchive) Executable() string { return a.executable() }

//go:embed krew.yaml.tmpl
var krewTemplate string

// krewManifest is the manifest of the kubectl plugin with the archives of this release.
func krewManifest(of release, archives []krewArchive) (file, error) {
	manifest, err := template.New("").Parse(krewTemplate)
	if err != nil {
		return file{}, err
	}
	var text strings.Builder
	err = manifest.Execute(&text, map[string]any{"Version": of.version, "Downloads": of.downloads, "Archives": archives})
	return file{name: "kyklos.yaml", content: []byte(text.String())}, err
}
