package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/cli/lint"
)

// Format is an output format, and a flag value with the names in Formats.
type Format string

// The formats. The zero value is Text.
const (
	Text   Format = "text"   // for people: position, message and the line
	JSON   Format = "json"   // documented in docs/pipelines.md; fields are only added
	JUnit  Format = "junit"  // a test report for GitLab and Jenkins, one test case per object
	SARIF  Format = "sarif"  // SARIF 2.1.0, for code scanning
	GitHub Format = "github" // workflow commands: annotations on the lines of a pull request
)

// Formats are the names of the formats.
var Formats = []string{string(Text), string(JSON), string(JUnit), string(SARIF), string(GitHub)}

// Usage is the help of the format's flag.
var Usage = "output format: " + strings.Join(Formats, ", ")

// String implements pflag.Value.
func (f *Format) String() string {
	if *f == "" {
		return string(Text)
	}
	return string(*f)
}

// Type implements pflag.Value.
func (f *Format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *Format) Set(name string) error {
	for _, known := range Formats {
		if name == known {
			*f = Format(name)
			return nil
		}
	}
	return fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(Formats, ", "))
}

// Options for a report.
type Options struct {
	Format Format
	// Colours in text, for terminals.
	Colours bool
	// Version of the program, for SARIF.
	Version string
}

// Write writes the findings in the given order.
func Write(w io.Writer, options Options, findings []lint.Finding, summary lint.Summary) error {
	out := bufio.NewWriter(w)
	var err error
	switch options.Format {
	case JSON:
		err = writeJSON(out, findings, summary)
	case JUnit:
		err = writeJUnit(out, findings, summary)
	case SARIF:
		err = writeSARIF(out, options.Version, findings)
	case GitHub:
		writeGitHub(out, findings, summary)
	default:
		writeText(out, options.Colours, findings, summary)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func count(findings []lint.Finding) (errors, warnings int) {
	for _, f := range findings {
		if f.Severity == lint.Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// fileOf returns the name of the finding's file, "" without one.
func fileOf(f *lint.Finding) string {
	if f.Object == nil || f.Object.File == nil {
		return ""
	}
	return f.Object.File.Name
}

// sentence returns the message after the field, or the object if there is none.
func sentence(f *lint.Finding) string {
	subject := f.Field
	if subject == "" && f.Object != nil {
		subject = strings.TrimSpace(f.Object.GroupVersionKind().Kind + " " + f.Object.Name())
	}
	if subject == "" {
		return f.Message
	}
	return subject + ": " + f.Message
}

// total sums up the findings and the checked objects.
func total(findings []lint.Finding, summary lint.Summary) string {
	errors, warnings := count(findings)
	found := "no findings in"
	switch {
	case errors > 0 && warnings > 0:
		found = number(errors, "error") + " and " + number(warnings, "warning") + " in"
	case errors > 0:
		found = number(errors, "error") + " in"
	case warnings > 0:
		found = number(warnings, "warning") + " in"
	}
	text := fmt.Sprintf("%s %s of %s", found, number(len(summary.Checked), "object"), number(summary.Files, "file"))
	if summary.Skipped > 0 {
		text += fmt.Sprintf(" (%d of other kinds skipped)", summary.Skipped)
	}
	return text
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
