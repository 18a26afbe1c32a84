package manifest_test

import (
	"testing"

	"kyklos.io/kyklos/cli/manifest"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"web-hours":            "web-hours",
		"Büro 世界 \"a\" 'b' \\": "Büro 世界 \"a\" 'b' \\",
		"red\x1b[31m":          `red\x1b[31m`,
		"two\nlines\r":         `two\nlines\r`,
		"\u202Eturned\u2028":   `\u202eturned\u2028`,
	} {
		got := manifest.Printable(text)
		if got != want || !manifest.IsPrintable(got) || manifest.IsPrintable(text) != (text == want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
