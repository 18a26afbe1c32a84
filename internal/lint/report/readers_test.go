package report_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/lint"
	"kyklos.io/kyklos/internal/lint/report"
	"kyklos.io/kyklos/internal/manifest"
)

// anyText is what a hostile file can put into names and messages: every rune, the ends of every format's fields, and bytes that are no UTF-8.
var anyText = rapid.OneOf(
	rapid.String(),
	rapid.StringOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)),
	rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
		"\n::error::", "%0A", "%", "\r\n", "]]>", "<a&\">", `"`, `\`, "\x00", "\xff\xfe", "\ufffe", "\x1b[31m", "\u202e", "{0}", "\u2028", "spec", ": ", ",", "é", "世界",
	})), func(parts []string) string { return strings.Join(parts, "") }),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
)

// drawReport is any report; its findings are about objects of two files, or about none.
func drawReport(t *rapid.T) ([]lint.Finding, lint.Summary) {
	var objects []*manifest.Object
	for i := range 2 {
		file := &manifest.File{Name: "a" + anyText.Draw(t, "file"), Data: []byte(anyText.Draw(t, "content"))}
		for range rapid.IntRange(1, 2).Draw(t, "objects") {
			objects = append(objects, &manifest.Object{File: file, Line: 1 + i, Object: map[string]any{
				"apiVersion": "kyklos.io/v1beta1", "kind": anyText.Draw(t, "kind"),
				"metadata": map[string]any{"name": anyText.Draw(t, "name"), "namespace": anyText.Draw(t, "namespace")},
			}})
		}
	}
	var all []lint.Finding
	for range rapid.IntRange(0, 4).Draw(t, "findings") {
		all = append(all, lint.Finding{
			Severity: rapid.SampledFrom([]lint.Severity{lint.Error, lint.Warning}).Draw(t, "severity"),
			Rule:     rapid.SampledFrom([]lint.Rule{lint.Invalid, lint.Policy}).Draw(t, "rule"),
			Object:   rapid.SampledFrom(append(objects, nil)).Draw(t, "object"),
			Field:    anyText.Draw(t, "field"), Message: anyText.Draw(t, "message"),
			At: manifest.Position{
				Line:   rapid.IntRange(1, 4).Draw(t, "line"),
				Column: rapid.IntRange(1, 200).Draw(t, "column"), Length: rapid.IntRange(1, 90).Draw(t, "length"),
			},
		})
	}
	return all, lint.Summary{Judged: objects, Files: 2, Foreign: rapid.IntRange(0, 2).Draw(t, "foreign")}
}

func produce(t *rapid.T, format report.Format, all []lint.Finding, summary lint.Summary) string {
	var out strings.Builder
	if err := report.Write(&out, report.Options{Format: format, Version: anyText.Draw(t, "version")}, all, summary); err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(out.String()) {
		t.Fatalf("no UTF-8: %q", out.String())
	}
	return out.String()
}

// said is the text of a finding as every format has it before it writes it in its own way.
func said(f lint.Finding) string {
	switch {
	case f.Field != "":
		return f.Field + ": " + f.Message
	case f.Object == nil:
		return f.Message
	}
	subject := strings.TrimSpace(fmt.Sprintf("%v %v", f.Object.Object["kind"], f.Object.Name()))
	if subject == "" {
		return f.Message
	}
	return subject + ": " + f.Message
}

// valid is text with every byte that is no UTF-8 replaced, as a reader of JSON has it.
func valid(text string) string { return string([]rune(text)) }

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
		want := len(summary.Judged)
		for _, f := range all {
			if f.Object == nil {
				want = len(summary.Judged) + 1
			}
			if !strings.Contains(text, inXML(said(f))) {
				t.Fatalf("%q has no %q", text, inXML(said(f)))
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
			if *result.Message.Text != valid(said(f)) || result.Level != string(f.Severity) || *run.Tool.Driver.Rules[result.RuleIndex].ID != string(f.Rule) {
				t.Fatalf("%+v is not %+v", result, f)
			}
			if f.Object == nil {
				continue
			}
			at := result.Locations[0].PhysicalLocation
			uri, err := url.Parse(*at.ArtifactLocation.URI)
			if err != nil || uri.IsAbs() || filepath.Clean(uri.Path) != filepath.Clean(f.Object.File.Name) {
				t.Fatalf("%q is no reference to %q: %v", *at.ArtifactLocation.URI, f.Object.File.Name, err)
			}
			if diff := cmp.Diff([]int{f.At.Line, f.At.Column, f.At.Column + f.At.Length},
				[]int{*at.Region.StartLine, *at.Region.StartColumn, *at.Region.EndColumn}); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// command is a line that GitHub's runner takes for a workflow command; it looks behind blanks at the beginning.
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
			if parts == nil || parts[1] != string(f.Severity) || undo.Replace(parts[3]) != strings.ToValidUTF8(said(f), "\uFFFD") {
				t.Fatalf("%q does not say %q", lines[i], said(f))
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
