package report_test

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/report"
	"kyklos.io/kyklos/cli/manifest"
)

// anyText is what a hostile file can put into names and messages: every rune, the ends of every format's fields, and bytes that are not UTF-8.
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
	return all, lint.Summary{Checked: objects, Files: 2, Skipped: rapid.IntRange(0, 2).Draw(t, "foreign")}
}

func produce(t *rapid.T, format report.Format, all []lint.Finding, summary lint.Summary) string {
	var out strings.Builder
	if err := report.Write(&out, report.Options{Format: format, Version: anyText.Draw(t, "version")}, all, summary); err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(out.String()) {
		t.Fatalf("not UTF-8: %q", out.String())
	}
	return out.String()
}

// findingText is the text of a finding before a format escapes it.
func findingText(f lint.Finding) string {
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

// valid is text with every byte that is not UTF-8 replaced, as a reader of JSON has it.
func valid(text string) string { return string([]rune(text)) }
