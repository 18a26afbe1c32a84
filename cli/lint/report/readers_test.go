package report_test

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/lint/report"
)

func TestAnyTextAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, summary := drawReport(t)
		var read struct {
			Summary  map[string]int
			Findings []struct {
				Severity, Rule, File, APIVersion, Kind, Namespace, Name, Field, Message string
				Line, Column, EndColumn                                                 int
			}
		}
		decoder := json.NewDecoder(strings.NewReader(produce(t, report.JSON, all, summary)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&read); err != nil {
			t.Fatal(err)
		}
		if len(read.Findings) != len(all) || read.Summary["errors"]+read.Summary["warnings"] != len(all) {
			t.Fatalf("%d findings of %d: %v", len(read.Findings), len(all), read.Summary)
		}
		for i, f := range all {
			got := read.Findings[i]
			if got.Message != valid(f.Message) || got.Field != valid(f.Field) || f.Object != nil && got.Name != valid(f.Object.Name()) {
				t.Fatalf("%+v is not %+v", got, f)
			}
		}
	})
}

// inXML is text as XML 1.0 can hold it (its production Char).
func inXML(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 {
			return r
		}
		return unicode.ReplacementChar
	}, valid(text))
}

func TestAnyTextAsJUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, summary := drawReport(t)
		var read struct {
			Tests  int `xml:"tests,attr"`
			Suites []struct {
				Tests int `xml:"tests,attr"`
				Cases []struct {
					Name    string `xml:"name,attr"`
					Failure []struct {
						Message string `xml:"message,attr"`
						Text    string `xml:",chardata"`
					} `xml:"failure"`
					Output string `xml:"system-out"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal([]byte(produce(t, report.JUnit, all, summary)), &read); err != nil {
			t.Fatal(err)
		}
		text, cases := "", 0
		for _, suite := range read.Suites {
			cases += len(suite.Cases)
			for _, test := range suite.Cases {
				text += test.Output
				for _, failure := range test.Failure {
					text += failure.Message + failure.Text
				}
			}
		}
		want := len(summary.Checked)
		for _, f := range all {
			if f.Object == nil {
				want = len(summary.Checked) + 1
			}
			if !strings.Contains(text, inXML(findingText(f))) {
				t.Fatalf("%q has no %q", text, inXML(findingText(f)))
			}
		}
		if cases != want || read.Tests != want {
			t.Fatalf("%d test cases, %d said, for %d objects", cases, read.Tests, want)
		}
	})
}

// readSARIF reads a report with another library, which also holds it to the standard's schema.
func readSARIF(t interface {
	Helper()
	Fatal(...any)
}, text string) *sarif.Run {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sarif.Report{}); err != nil {
		t.Fatal(err)
	}
	read, err := sarif.FromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Fatal(err)
	}
	return read.Runs[0]
}

func TestAnyTextAsSARIF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, summary := drawReport(t)
		run := readSARIF(t, produce(t, report.SARIF, all, summary))
		if len(run.Results) != len(all) {
			t.Fatalf("%d results for %d findings", len(run.Results), len(all))
		}
		for i, f := range all {
			result := run.Results[i]
			if *result.Message.Text != valid(findingText(f)) || result.Level != string(f.Severity) || *run.Tool.Driver.Rules[result.RuleIndex].ID != string(f.Rule) {
				t.Fatalf("%+v is not %+v", result, f)
			}
			if f.Object == nil {
				continue
			}
			at := result.Locations[0].PhysicalLocation
			uri, err := url.Parse(*at.ArtifactLocation.URI)
			if err != nil || uri.IsAbs() || filepath.Clean(uri.Path) != filepath.Clean(f.Object.File.Name) {
				t.Fatalf("%q is not a reference to %q: %v", *at.ArtifactLocation.URI, f.Object.File.Name, err)
			}
			if diff := cmp.Diff([]int{f.At.Line, f.At.Column, f.At.Column + f.At.Length},
				[]int{*at.Region.StartLine, *at.Region.StartColumn, *at.Region.EndColumn}); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// command is a line that GitHub's runner takes for a workflow command; blanks at the beginning do not count.
var command = regexp.MustCompile(`^\s*::([a-z]+) ?([^:]*)::(.*)$`)

func TestAnyTextAsGitHub(t *testing.T) {
	undo := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	rapid.Check(t, func(t *rapid.T) {
		all, summary := drawReport(t)
		lines := strings.FieldsFunc(produce(t, report.GitHub, all, summary), func(r rune) bool { return r == '\n' || r == '\r' })
		if len(lines) != len(all)+1 {
			t.Fatalf("%d lines for %d findings: %q", len(lines), len(all), lines)
		}
		for i, f := range all {
			parts := command.FindStringSubmatch(lines[i])
			if parts == nil || parts[1] != string(f.Severity) || undo.Replace(parts[3]) != strings.ToValidUTF8(findingText(f), "\uFFFD") {
				t.Fatalf("%q does not say %q", lines[i], findingText(f))
			}
			properties := map[string]string{}
			for property := range strings.SplitSeq(parts[2], ",") {
				key, value, _ := strings.Cut(property, "=")
				properties[key] = undo.Replace(value)
			}
			if f.Object != nil && properties["file"] != strings.ToValidUTF8(filepath.Clean(f.Object.File.Name), "\uFFFD") {
				t.Fatalf("%v is about %q", properties, f.Object.File.Name)
			}
		}
	})
}

var (
	heading = regexp.MustCompile(`^(a.*:\d+:\d+: )?(error|warning): .*\[(invalid|policy)\]$`)
	behind  = regexp.MustCompile(`^ *\d* \| `)
)

// No text of a file begins a line, speaks to the terminal or makes a line of its own.
func TestAnyTextAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, summary := drawReport(t)
		text := strings.TrimSuffix(produce(t, report.Text, all, summary), "\n")
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }) {
			t.Fatalf("not only characters: %q", text)
		}
		headings, lines := 0, strings.Split(text, "\n")
		for _, line := range lines[:len(lines)-1] {
			switch {
			case heading.MatchString(line):
				headings++
			case !behind.MatchString(line):
				t.Fatalf("%q begins as it likes in %q", line, text)
			}
		}
		if headings != len(all) {
			t.Fatalf("%d of %d findings in %q", headings, len(all), text)
		}
	})
}
