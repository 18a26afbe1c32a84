package report

import (
	"bufio"
	"encoding/json"

	"kyklos.io/kyklos/cli/lint"
)

// document is the report in JSON, described in docs/pipelines.md.
type document struct {
	Summary  summary   `json:"summary"`
	Findings []finding `json:"findings"`
}

type summary struct {
	Files    int `json:"files"`
	Objects  int `json:"objects"`
	Skipped  int `json:"skipped"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

type finding struct {
	Severity   lint.Severity `json:"severity"`
	Rule       lint.Rule     `json:"rule"`
	File       string        `json:"file,omitempty"`
	Line       int           `json:"line,omitempty"`
	Column     int           `json:"column,omitempty"`
	EndColumn  int           `json:"endColumn,omitempty"`
	APIVersion string        `json:"apiVersion,omitempty"`
	Kind       string        `json:"kind,omitempty"`
	Namespace  string        `json:"namespace,omitempty"`
	Name       string        `json:"name,omitempty"`
	Field      string        `json:"field,omitempty"`
	Message    string        `json:"message"`
}

func writeJSON(w *bufio.Writer, findings []lint.Finding, s lint.Summary) error {
	errors, warnings := count(findings)
	all := document{
		Summary:  summary{Files: s.Files, Objects: len(s.Checked), Skipped: s.Skipped, Errors: errors, Warnings: warnings},
		Findings: []finding{}, // [] rather than null
	}
	for _, f := range findings {
		one := finding{Severity: f.Severity, Rule: f.Rule, Field: f.Field, Message: f.Message}
		if one.File = fileOf(&f); one.File != "" {
			one.Line, one.Column, one.EndColumn = f.At.Line, f.At.Column, f.At.Column+f.At.Length
		}
		if f.Object != nil {
			one.APIVersion, one.Kind = f.Object.GroupVersionKind().ToAPIVersionAndKind()
			one.Namespace, one.Name = f.Object.Namespace(), f.Object.Name()
		}
		all.Findings = append(all.Findings, one)
	}
	return encode(w, all)
}

// encode writes readable JSON: indented, with < and & unescaped.
func encode(w *bufio.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
