package report

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// before and beyond are how many characters of a long line are shown on either side of the mark.
const before, beyond = 60, 60

// cell is a character as shown in a terminal.
type cell struct {
	text  string
	width int // in columns; a tab's depends on its position
}

// cellOf shows the code of characters that are not graphic, such as control and bidirectional ones.
func cellOf(r rune) cell {
	switch {
	case !unicode.IsGraphic(r):
		text := fmt.Sprintf(`\u%04x`, r)
		return cell{text, len(text)}
	case unicode.In(r, unicode.Mn, unicode.Me):
		return cell{string(r), 0}
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return cell{string(r), 2}
	}
	return cell{string(r), 1}
}

// visible escapes everything that would control a terminal.
func visible(text string) string {
	var shown strings.Builder
	for _, r := range text {
		shown.WriteString(cellOf(r).text)
	}
	return shown.String()
}

// excerpt returns a line, or the part of a long one around column, which counts from 1, and the mark below it: ^ under the
// character at column, and ~ under the rest of length. Tabs are kept in both, so that they have the same width.
func excerpt(line string, column, length int) (shown, mark string) {
	runes := []rune(strings.ToValidUTF8(line, string(unicode.ReplacementChar)))
	at := min(max(column-1, 0), len(runes))
	first, last := 0, len(runes)
	var text, below strings.Builder
	long := len(runes) > before+beyond
	if long && at > before+1 {
		first = at - before
		text.WriteString("…")
		below.WriteString(" ")
	}
	if long && last-at > beyond+1 {
		last = at + beyond
	}
	for i := first; i < last; i++ {
		c := cellOf(runes[i])
		if runes[i] == '\t' {
			c = cell{"\t", 1}
		}
		text.WriteString(c.text)
		switch {
		case i < at && runes[i] == '\t':
			below.WriteString("\t")
		case i < at:
			below.WriteString(strings.Repeat(" ", c.width))
		case i == at:
			below.WriteString("^" + strings.Repeat("~", max(c.width-1, 0)))
		case i < at+length:
			below.WriteString(strings.Repeat("~", c.width))
		}
	}
	if at == len(runes) {
		below.WriteString("^")
	}
	if last < len(runes) {
		text.WriteString("…")
	}
	return strings.TrimRight(text.String(), " \t"), below.String()
}
