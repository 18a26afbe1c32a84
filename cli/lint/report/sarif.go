package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"kyklos.io/kyklos/cli/lint"
)

// The parts of SARIF 2.1.0 that code scanning uses, with section numbers of the standard.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Language         string        `json:"language"`
	NewlineSequences []string      `json:"newlineSequences"` // 3.14.18
	ColumnKind       string        `json:"columnKind"`       // 3.14.17
	Results          []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name     string      `json:"name"`
	Version  string      `json:"version,omitempty"`
	Language string      `json:"language"`
	Rules    []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               lint.Rule    `json:"id"`
	ShortDescription sarifMessage `json:"shortDescription"`
	Help             sarifMessage `json:"help"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID              lint.Rule         `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"` // 3.27.10: error or warning
	Message             sarifMessage      `json:"message"`
	Locations           []sarifLocation   `json:"locations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	} `json:"physicalLocation"`
}

// sarifRegion counts from 1; its end is after the last character (3.30.8).
type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndColumn   int `json:"endColumn"`
}

// language of all messages.
const language = "en-US"

func writeSARIF(w *bufio.Writer, version string, findings []lint.Finding) error {
	run := sarifRun{
		Language: language, NewlineSequences: []string{"\r\n", "\n"}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	run.Tool.Driver = sarifDriver{Name: "kyklos lint", Version: strings.ToValidUTF8(version, ""), Language: language, Rules: []sarifRule{}}
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		index := slices.IndexFunc(run.Tool.Driver.Rules, func(rule sarifRule) bool { return rule.ID == f.Rule })
		if index < 0 {
			index = len(run.Tool.Driver.Rules)
			text := sarifMessage{cmp.Or(f.Rule.Description(), string(f.Rule))}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: f.Rule, ShortDescription: text, Help: text})
		}
		level := "warning"
		if f.Severity == lint.Error {
			level = "error"
		}
		mark := fingerprint(f)
		seen[mark]++
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: index, Level: level, Message: sarifMessage{sentence(f)}, Locations: locations(f),
			PartialFingerprints: map[string]string{"kyklosFinding/v1": fmt.Sprintf("%s:%d", mark, seen[mark])},
		})
	}
	return encode(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func locations(f *lint.Finding) []sarifLocation {
	file := fileOf(f)
	if file == "" {
		return nil
	}
	var at sarifLocation
	at.PhysicalLocation.ArtifactLocation.URI = uri(file)
	at.PhysicalLocation.Region = sarifRegion{f.At.Line, f.At.Column, f.At.Column + f.At.Length}
	return []sarifLocation{at}
}

// uri is a file's name relative to the working directory, which should be the root of the repository.
func uri(file string) string {
	reference := url.URL{Path: filepath.ToSlash(filepath.Clean(file))}
	if filepath.IsAbs(file) {
		reference.Scheme = "file"
	}
	return reference.String()
}

// fingerprint identifies a finding independently of its line.
func fingerprint(f *lint.Finding) string {
	parts := []string{string(f.Rule), fileOf(f), f.Field, f.Message}
	if f.Object != nil {
		parts = append(parts, f.Object.GroupVersionKind().GroupKind().String(), f.Object.Key("").String())
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
