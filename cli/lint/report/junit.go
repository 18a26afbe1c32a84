package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
)

// The parts of the JUnit format that GitLab and Jenkins read. Go libraries for it lack a test case's file, which GitLab
// links to.
type testsuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []*testsuite `xml:"testsuite"`
}

// testsuite is a file.
type testsuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []*testcase `xml:"testcase"`
}

// testcase is an object. Its errors are one failure, because readers ignore a second one.
type testcase struct {
	Name      string   `xml:"name,attr"`
	Classname string   `xml:"classname,attr"`
	File      string   `xml:"file,attr,omitempty"`
	Line      int      `xml:"line,attr,omitempty"`
	Failure   *failure `xml:"failure"`
	Output    string   `xml:"system-out,omitempty"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// cases finds the test case of an object, and its suite.
type cases struct {
	all     testsuites
	suites  map[string]*testsuite
	objects map[*manifest.Object]*testcase
}

func writeJUnit(w *bufio.Writer, findings []lint.Finding, summary lint.Summary) error {
	report := cases{all: testsuites{Name: "kyklos lint"}, suites: map[string]*testsuite{}, objects: map[*manifest.Object]*testcase{}}
	for _, object := range summary.Checked {
		report.of(object)
	}
	for i := range findings {
		f := &findings[i]
		test := report.of(f.Object)
		if f.Severity != lint.Error {
			test.Output += plain(f)
			continue
		}
		if test.Failure == nil {
			test.Failure = &failure{Message: sentence(f), Type: string(f.Rule), Text: "\n"}
			report.suites[test.Classname].Failures++
			report.all.Failures++
		}
		test.Failure.Text += plain(f)
	}
	_, _ = w.WriteString(xml.Header)
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(report.all); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// of returns the test case of an object, and creates it if needed; nil is the whole set.
func (c *cases) of(object *manifest.Object) *testcase {
	if test := c.objects[object]; test != nil {
		return test
	}
	test := &testcase{Name: "the whole set", Classname: "kyklos lint"}
	if object != nil {
		name := strings.TrimPrefix(object.Namespace()+"/"+object.Name(), "/")
		test.Name, test.Line = strings.TrimSpace(object.GroupVersionKind().Kind+" "+name), object.Line
		if object.File != nil {
			test.File, test.Classname = object.File.Name, object.File.Name
		}
	}
	suite := c.suites[test.Classname]
	if suite == nil {
		suite = &testsuite{Name: test.Classname}
		c.suites[test.Classname] = suite
		c.all.Suites = append(c.all.Suites, suite)
	}
	suite.Cases, c.objects[object] = append(suite.Cases, test), test
	suite.Tests++
	c.all.Tests++
	return test
}

// plain is a finding as a line of text.
func plain(f *lint.Finding) string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]\n", fileOf(f), f.At.Line, f.At.Column, f.Severity, sentence(f), f.Rule)
}
