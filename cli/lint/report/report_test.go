package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/report"
	"kyklos.io/kyklos/cli/manifest"
)

const twoScalers = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: office
  namespace: shop
spec:
  timezone: CET
---
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: night}
spec:
  timezone: Europe/Berlin
`

// findings are an error, a warning and an error of the first object, whose places are those of the manifest.
func findings(t *testing.T) ([]lint.Finding, lint.Summary) {
	t.Helper()
	objects, problems := manifest.Parse(&manifest.File{Name: "deploy/scalers.yaml", Data: []byte(twoScalers)})
	if len(objects) != 2 || len(problems) > 0 {
		t.Fatal(objects, problems)
	}
	all := []lint.Finding{
		{Severity: lint.Error, Rule: lint.Invalid, Object: objects[0], Field: "spec.timezone", Message: "must be a zone, as Europe/Berlin"},
		{Severity: lint.Warning, Rule: lint.Warned, Object: objects[0], Field: "metadata.name", Message: "50%, or: so"},
		{Severity: lint.Error, Rule: lint.Policy, Object: objects[0], Message: "denied:\nno windows\n  | at all"},
	}
	for i := range all {
		all[i].At, _ = all[i].Object.Position(all[i].Field)
	}
	return all, lint.Summary{Checked: objects, Skipped: 4, Files: 1}
}

func write(t *testing.T, options report.Options, findings []lint.Finding, summary lint.Summary) string {
	t.Helper()
	var out strings.Builder
	if err := report.Write(&out, options, findings, summary); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	all, summary := findings(t)
	want := `deploy/scalers.yaml:7:13: error: spec.timezone: must be a zone, as Europe/Berlin [invalid]
    7 |   timezone: CET
      |             ^~~
deploy/scalers.yaml:4:9: warning: metadata.name: 50%, or: so [warned]
    4 |   name: office
      |         ^~~~~~
deploy/scalers.yaml:1:1: error: TimeWindowScaler office: denied: [policy]
      | no windows
      |   | at all
    1 | apiVersion: kyklos.io/v1beta1
      | ^
2 errors and 1 warning in 2 objects of 1 file (4 of other kinds skipped)
`
	if diff := cmp.Diff(want, write(t, report.Options{}, all, summary)); diff != "" {
		t.Error(diff)
	}
	coloured := write(t, report.Options{Colours: true}, all[:1], summary)
	if want := "\x1b[1mdeploy/scalers.yaml:7:13:\x1b[0m \x1b[1;31merror:\x1b[0m spec.timezone: "; !strings.HasPrefix(coloured, want) {
		t.Errorf("%q does not begin with %q", coloured, want)
	}
}

func TestTotal(t *testing.T) {
	all, summary := findings(t)
	for want, findings := range map[string][]lint.Finding{
		"no findings in 2 objects of 1 file (4 of other kinds skipped)\n": nil,
		"1 error in 2 objects of 1 file (4 of other kinds skipped)\n":     all[:1],
		"1 warning in 2 objects of 1 file (4 of other kinds skipped)\n":   all[1:2],
	} {
		if got := write(t, report.Options{}, findings, summary); !strings.HasSuffix(got, want) {
			t.Errorf("%q does not end in %q", got, want)
		}
	}
	if got := write(t, report.Options{}, nil, lint.Summary{}); got != "no findings in 0 objects of 0 files\n" {
		t.Error(got)
	}
}

func TestGitHub(t *testing.T) {
	all, summary := findings(t)
	want := `::error file=deploy/scalers.yaml,line=7,col=13,endColumn=16,title=kyklos lint invalid::spec.timezone: must be a zone, as Europe/Berlin
::warning file=deploy/scalers.yaml,line=4,col=9,endColumn=15,title=kyklos lint warned::metadata.name: 50%25, or: so
::error file=deploy/scalers.yaml,line=1,col=1,endColumn=2,title=kyklos lint policy::TimeWindowScaler office: denied:%0Ano windows%0A  | at all
2 errors and 1 warning in 2 objects of 1 file (4 of other kinds skipped)
`
	if diff := cmp.Diff(want, write(t, report.Options{Format: report.GitHub}, all, summary)); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	all, summary := findings(t)
	want := `{
  "summary": {
    "files": 1,
    "objects": 2,
    "skipped": 4,
    "errors": 1,
    "warnings": 0
  },
  "findings": [
    {
      "severity": "error",
      "rule": "invalid",
      "file": "deploy/scalers.yaml",
      "line": 7,
      "column": 13,
      "endColumn": 16,
      "apiVersion": "kyklos.io/v1beta1",
      "kind": "TimeWindowScaler",
      "namespace": "shop",
      "name": "office",
      "field": "spec.timezone",
      "message": "must be a zone, as Europe/Berlin"
    }
  ]
}
`
	if diff := cmp.Diff(want, write(t, report.Options{Format: report.JSON}, all[:1], summary)); diff != "" {
		t.Error(diff)
	}
	if empty := write(t, report.Options{Format: report.JSON}, nil, summary); !strings.Contains(empty, `"findings": []`) {
		t.Error(empty)
	}
}

func TestJUnit(t *testing.T) {
	all, summary := findings(t)
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="kyklos lint" tests="2" failures="1">
  <testsuite name="deploy/scalers.yaml" tests="2" failures="1">
    <testcase name="TimeWindowScaler shop/office" classname="deploy/scalers.yaml" file="deploy/scalers.yaml" line="1">
      <failure message="spec.timezone: must be a zone, as Europe/Berlin" type="invalid">&#xA;` +
		`deploy/scalers.yaml:7:13: error: spec.timezone: must be a zone, as Europe/Berlin [invalid]&#xA;` +
		`deploy/scalers.yaml:1:1: error: TimeWindowScaler office: denied:&#xA;no windows&#xA;  | at all [policy]&#xA;</failure>
      <system-out>deploy/scalers.yaml:4:9: warning: metadata.name: 50%, or: so [warned]&#xA;</system-out>
    </testcase>
    <testcase name="TimeWindowScaler night" classname="deploy/scalers.yaml" file="deploy/scalers.yaml" line="9"></testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, write(t, report.Options{Format: report.JUnit}, all, summary)); diff != "" {
		t.Error(diff)
	}
}

// A finding keeps its fingerprint when lines come above it, and equal ones of one report are distinguished.
func TestFingerprints(t *testing.T) {
	all, summary := findings(t)
	fingerprints := func(all []lint.Finding) (marks []string) {
		for _, result := range readSARIF(t, write(t, report.Options{Format: report.SARIF}, all, summary)).Results {
			marks = append(marks, result.PartialFingerprints["kyklosFinding/v1"])
		}
		return marks
	}
	before := fingerprints(append(all, all[0]))
	moved := append([]lint.Finding{}, append(all, all[0])...)
	for i := range moved {
		moved[i].At.Line += 3
	}
	if diff := cmp.Diff(before, fingerprints(moved)); diff != "" {
		t.Error(diff)
	}
	distinct := map[string]bool{}
	for _, mark := range before {
		distinct[mark] = true
	}
	if len(distinct) != 4 {
		t.Error("fingerprints are not distinct:", before)
	}
	renamed := append([]lint.Finding{}, all...)
	renamed[0].Message += "!"
	if fingerprints(renamed)[0] == before[0] {
		t.Error("another message has the same fingerprint")
	}
}

func TestFormatAsFlag(t *testing.T) {
	var format report.Format
	if format.String() != "text" {
		t.Error("the zero value is", format.String())
	}
	for _, name := range report.Formats {
		if err := format.Set(name); err != nil || format.String() != name {
			t.Error(name, format, err)
		}
	}
	err := format.Set("yaml")
	if want := `unknown format "yaml": use one of text, json, junit, sarif, github`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// An error of the writer is returned.
func TestWriterFails(t *testing.T) {
	all, summary := findings(t)
	for _, name := range report.Formats {
		if err := report.Write(broken{}, report.Options{Format: report.Format(name)}, all, summary); err == nil {
			t.Errorf("%s: no error from a writer that fails", name)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, strings.NewReader("").UnreadByte() }
