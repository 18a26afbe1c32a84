package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/cli/lint"
)

// Format is how findings are written. As a flag's value it takes the names in Formats.
type Format string

// The formats. The zero value is Text.
const (
	Text   Format = "text"   // for people: place, message and the line in question
	JSON   Format = "json"   // for programs: documented in docs/pipelines.md, fields are only ever added
	JUnit  Format = "junit"  // a test report, one test case for each object, as GitLab and Jenkins read it
	SARIF  Format = "sarif"  // SARIF 2.1.0, for code scanning
	GitHub Format = "github" // workflow commands that GitHub Actions shows beside the lines of a pull request
)

// Formats are the names of all formats.
var Formats = []string{string(Text), string(JSON), string(JUnit), string(SARIF), string(GitHub)}

// Usage is what the help of a flag for the format says.
var Usage = "output format: " + strings.Join(Formats, ", ")

// String is the format's name.
func (f *Format) String() string {
	if *f == "" {
		return string(Text)
	}
	return string(*f)
}

// Type is what the help of a flag shows for the value.
func (f *Format) Type() string { return "format" }

// Set takes the name of a format.
func (f *Format) Set(name string) error {
	for _, known := range Formats {
		if name == known {
			*f = Format(name)
			return nil
		}
	}
	return fmt.Errorf("there is no format %q: use one of %s", name, strings.Join(Formats, ", "))
}

// Options are what a report is to be like.
type Options struct {
	Format Format
	// Colours has text coloured, for terminals.
	Colours bool
	// Version is that of the program, which SARIF names.
	Version string
}

// Write writes the findings in the order given. The error is that of w.
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

// count is how many findings are errors, and how many warnings.
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

// fileOf is the name of the file that the finding is about, "" without one.
func fileOf(f *lint.Finding) string {
	if f.Object == nil || f.Object.File == nil {
		return ""
	}
	return f.Object.File.Name
}

// sentence is the finding in one sentence: the field, or without one the object, and what is to be said.
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

// total says in a sentence what was found, and in what.
func total(findings []lint.Finding, summary lint.Summary) string {
	errors, warnings := count(findings)
	found := "nothing to say about"
	switch {
	case errors > 0 && warnings > 0:
		found = number(errors, "error") + " and " + number(warnings, "warning") + " in"
	case errors > 0:
		found = number(errors, "error") + " in"
	case warnings > 0:
		found = number(warnings, "warning") + " in"
	}
	text := fmt.Sprintf("%s %s of %s", found, number(len(summary.Judged), "object"), number(summary.Files, "file"))
	if summary.Foreign > 0 {
		text += fmt.Sprintf(" (%d of other kinds skipped)", summary.Foreign)
	}
	return text
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
