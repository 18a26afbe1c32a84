package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 100) + "VALUE" + strings.Repeat("b", 100)
	for name, c := range map[string]struct {
		line           string
		column, length int
		shown, mark    string
	}{
		"value":               {"  zone: CET", 9, 3, "  zone: CET", "        ^~~"},
		"tabs":                {"\tzone:\tCET # x", 8, 3, "\tzone:\tCET # x", "\t     \t^~~"},
		"wide before":         {"名前: CET", 5, 3, "名前: CET", "      ^~~"},
		"wide value":          {"a: 名前", 4, 2, "a: 名前", "   ^~~~"},
		"combining":           {"e\u0301: CET", 5, 3, "e\u0301: CET", "   ^~~"},
		"control":             {"a\x1b: CET", 5, 3, `a\u001b: CET`, "         ^~~"},
		"behind the end":      {"zone:", 6, 1, "zone:", "     ^"},
		"far behind the end":  {"zone:", 60, 1, "zone:", "     ^"},
		"longer than it goes": {"zone: CET", 7, 30, "zone: CET", "      ^~~"},
		"column nothing":      {"zone", 0, 1, "zone", "^"},
		"not long":            {long[:120], 101, 5, long[:120], strings.Repeat(" ", 100) + "^~~~~"},
		"long": {long, 101, 5, "…" + strings.Repeat("a", 60) + "VALUE" + strings.Repeat("b", 55) + "…",
			strings.Repeat(" ", 61) + "^~~~~"},
		"long, at its end": {long, 201, 5, "…" + long[140:205], strings.Repeat(" ", 61) + "^~~~~"},
	} {
		shown, mark := excerpt(c.line, c.column, c.length)
		if shown != c.shown || mark != c.mark {
			t.Errorf("%s:\n%q\n%q, want\n%q\n%q", name, shown, mark, c.shown, c.mark)
		}
	}
}

// The mark is under the value: on plain lines, where one character takes one column, that can be read back.
func TestMarkIsUnderTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := rapid.StringMatching(`[ -~]{0,150}`).Draw(t, "head")
		value := rapid.StringMatching(`[!-~]{1,50}`).Draw(t, "value")
		tail := rapid.StringMatching(`([ -~]{0,150}[!-~])?`).Draw(t, "tail")
		shown, mark := excerpt(head+value+tail, len(head)+1, len(value))
		at := strings.IndexByte(mark, '^')
		if at < 0 || string([]rune(shown)[at:at+len(mark)-at]) != value {
			t.Fatalf("\n%s\n%s\nis not about %q", shown, mark, value)
		}
		if len([]rune(shown)) > 130 {
			t.Fatalf("%d columns: %s", len([]rune(shown)), shown)
		}
	})
}
