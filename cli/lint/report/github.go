package report

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"kyklos.io/kyklos/cli/lint"
)

// Escapes for the message and the properties of a workflow command.
var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes a workflow command for each finding. GitHub expects paths relative to the repository.
func writeGitHub(w *bufio.Writer, findings []lint.Finding, summary lint.Summary) {
	for i := range findings {
		f := &findings[i]
		command := "warning"
		if f.Severity == lint.Error {
			command = "error"
		}
		where := ""
		if file := fileOf(f); file != "" {
			where = fmt.Sprintf("file=%s,line=%d,col=%d,endColumn=%d,",
				property(filepath.ToSlash(filepath.Clean(file))), f.At.Line, f.At.Column, f.At.Column+f.At.Length)
		}
		fmt.Fprintf(w, "::%s %stitle=%s::%s\n", command, where, property("kyklos lint "+string(f.Rule)),
			inMessage.Replace(strings.ToValidUTF8(sentence(f), "\uFFFD")))
	}
	fmt.Fprintln(w, total(findings, summary))
}

func property(value string) string { return inProperty.Replace(strings.ToValidUTF8(value, "\uFFFD")) }
