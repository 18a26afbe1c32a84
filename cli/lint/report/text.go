package report

import (
	"bufio"
	"fmt"
	"strings"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
)

// palette are the escape sequences before the parts of the text.
type palette struct{ place, error, warning, mark, faint, reset string }

var coloured = palette{
	place: "\x1b[1m", error: "\x1b[1;31m", warning: "\x1b[1;33m", mark: "\x1b[1;32m", faint: "\x1b[2m", reset: "\x1b[0m",
}

// writeText writes findings like a compiler, so that editors find the position, with the line and a mark under the value.
func writeText(w *bufio.Writer, colours bool, findings []lint.Finding, summary lint.Summary) {
	var p palette
	if colours {
		p = coloured
	}
	files := make(lines)
	for i := range findings {
		p.finding(w, &findings[i], files)
	}
	fmt.Fprintln(w, total(findings, summary))
}

// lines caches the lines of files with findings.
type lines map[*manifest.File][]string

// line returns a line of the file, from 1, without its end; "" after the last one.
func (l lines) line(file *manifest.File, number int) string {
	all, known := l[file]
	if !known {
		all = strings.Split(string(file.Data), "\n")
		l[file] = all
	}
	if number < 1 || number > len(all) {
		return ""
	}
	return strings.TrimRight(all[number-1], "\r")
}

func (p palette) finding(w *bufio.Writer, f *lint.Finding, files lines) {
	severity := p.warning
	if f.Severity == lint.Error {
		severity = p.error
	}
	file := fileOf(f)
	if file != "" {
		fmt.Fprintf(w, "%s%s:%d:%d:%s ", p.place, visible(file), f.At.Line, f.At.Column, p.reset)
	}
	first, more, _ := strings.Cut(strings.TrimSpace(sentence(f)), "\n")
	fmt.Fprintf(w, "%s%s:%s %s %s[%s]%s\n", severity, visible(string(f.Severity)), p.reset, visible(strings.TrimSpace(first)),
		p.faint, visible(string(f.Rule)), p.reset)
	if more != "" { // such as the errors of CEL expressions
		for line := range strings.Lines(more) {
			p.gutter(w, "", strings.TrimRight(visible(strings.TrimRight(line, "\r\n")), " "))
		}
	}
	if file == "" {
		return
	}
	line := files.line(f.Object.File, f.At.Line)
	if strings.TrimSpace(line) == "" {
		return
	}
	shown, mark := excerpt(line, f.At.Column, f.At.Length)
	p.gutter(w, fmt.Sprint(f.At.Line), shown)
	p.gutter(w, "", p.mark+mark+p.reset)
}

// gutter writes a line after a margin with its number, so that no line of a report begins with text from a file.
func (p palette) gutter(w *bufio.Writer, number, text string) {
	fmt.Fprintf(w, "%s%5s |%s %s\n", p.faint, number, p.reset, text)
}
