package main

import (
	"fmt"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Identifiers of the in-toto and SLSA formats.
const (
	statementType  = "https://in-toto.io/Statement/v1"
	provenanceType = "https://slsa.dev/provenance/v1"
	sbomType       = "https://cyclonedx.org/bom"
	payloadType    = "application/vnd.in-toto+json"
	buildType      = "pkg:golang/kyklos.io/kyklos#cmd/release"
)

// statement is an in-toto statement about subjects.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     any       `json:"predicate"`
}

// subject is a file or artifact by its digest.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

func subjectOf(name string, digest v1.Hash) subject {
	return subject{Name: name, Digest: map[string]string{digest.Algorithm: digest.Hex}}
}

// slsaProvenance is the predicate of SLSA's build track.
type slsaProvenance struct {
	BuildDefinition struct {
		BuildType            string       `json:"buildType"`
		ExternalParameters   parameters   `json:"externalParameters"`
		ResolvedDependencies []dependency `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// parameters are what make release was called with.
type parameters struct {
	Version   string    `json:"version"`
	Commit    string    `json:"commit"`
	Date      time.Time `json:"date"`
	Registry  string    `json:"registry,omitempty"`
	Downloads string    `json:"downloads,omitempty"`
	Platforms []string  `json:"platforms"`
}

type dependency struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest,omitempty"`
}

// provenance states how the files and artifacts were built. It leaves out the time of the build, to be reproducible.
func provenance(of release, programs []program, files []file, artifacts []subject) statement {
	about := slsaProvenance{}
	about.BuildDefinition.BuildType = buildType
	about.RunDetails.Builder.ID = of.builder
	given := parameters{Version: of.version, Commit: of.commit, Date: of.date.UTC(), Registry: of.registry, Downloads: of.downloads}
	compilers := map[string]bool{}
	for _, p := range programs {
		given.Platforms = append(given.Platforms, p.os+"/"+p.arch)
		compilers[p.info.GoVersion] = true
	}
	about.BuildDefinition.ExternalParameters = given
	about.BuildDefinition.ResolvedDependencies = []dependency{
		{URI: "pkg:golang/kyklos.io/kyklos@" + of.version, Digest: map[string]string{"gitCommit": of.commit}},
	}
	for version := range compilers {
		about.BuildDefinition.ResolvedDependencies = append(about.BuildDefinition.ResolvedDependencies, dependency{URI: "pkg:generic/go@" + version[len("go"):]})
	}
	subjects := slices.SortedFunc(slices.Values(artifacts), func(a, b subject) int { return len(a.Name) - len(b.Name) })
	for _, f := range files {
		subjects = append(subjects, subject{Name: f.name, Digest: map[string]string{"sha256": sha256Hex(f.content)}})
	}
	return statement{statementType, subjects, provenanceType, about}
}

// digestOf returns the digest that a statement has for a subject.
func (s statement) digestOf(name string) (string, error) {
	for _, subject := range s.Subject {
		if subject.Name == name {
			return subject.Digest["sha256"], nil
		}
	}
	return "", fmt.Errorf("the provenance has no subject %s", name)
}
