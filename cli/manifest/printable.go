package manifest

import (
	"strconv"
	"strings"
	"unicode"
)

// IsPrintable reports whether a text is nothing but a text wherever it is shown: it has no control characters, by which a file could
// speak to a terminal, no ends of lines, and nothing that turns the direction of writing.
func IsPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// Printable is a text with all that is not printable by its number, as \x1b.
func Printable(text string) string {
	if IsPrintable(text) {
		return text
	}
	var shown strings.Builder
	for _, r := range text {
		if unicode.IsGraphic(r) {
			shown.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		shown.WriteString(quoted[1 : len(quoted)-1])
	}
	return shown.String()
}
