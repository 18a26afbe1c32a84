package convert

import "strings"

// removeWithin removes entries in flow style, of which at least one remains. Lines that become empty are removed, and comments on
// other lines are kept.
func (e *editor) removeWithin(all []*entry) error {
	last, done := 0, 0
	for i, one := range all {
		if !one.gone {
			last = i
		}
	}
	for i, one := range all {
		if !one.gone {
			continue
		}
		stretch, err := e.entryWithin(all, i, i > last)
		if err != nil {
			return err
		}
		e.replace(max(stretch.from, done), stretch.to, "")
		done = stretch.to
	}
	return nil
}

// entryWithin is the range of an entry in flow style with one comma. tail: no remaining entry follows.
func (e *editor) entryWithin(all []*entry, i int, tail bool) (stretch splice, err error) {
	if stretch.from, err = e.start(all[i].key); err != nil {
		return stretch, err
	}
	end, err := e.end(all[i].value)
	if err != nil {
		return stretch, err
	}
	line, comma := e.lineStart(stretch.from), e.skip(end, "")
	before := strings.TrimSpace(string(e.text[line:stretch.from]))
	hasComma := comma < len(e.text) && e.text[comma] == ','
	stretch.to = end
	commaHere := hasComma && e.lineStart(comma) == e.lineStart(end)
	if commaHere {
		stretch.to = comma + 1
	}
	leads := before == "" && (commaHere || !hasComma && !e.json) || before == "," && !commaHere
	switch {
	case leads && e.endsLine(stretch.to):
		return splice{from: line, to: e.nextLine(stretch.to)}, nil
	case !tail && !hasComma:
		return stretch, errUnplaced
	case !tail:
		stretch.to = e.behindComma(comma + 1)
	case before == "," && !e.json:
		stretch.from = line + strings.IndexByte(string(e.text[line:]), ',')
	case before != "" || e.json:
		stretch.from, err = e.end(all[i-1].value)
		stretch.to = end
	}
	return stretch, err
}

// endsLine reports whether only a comment follows an offset on its line.
func (e *editor) endsLine(at int) bool {
	rest := strings.TrimSpace(string(e.text[at:e.lineEnd(at)]))
	return rest == "" || rest[0] == '#'
}

// behindComma is the start of the next entry after a comma, or of the comment above it. A comment after the comma belongs to the entry
// before.
func (e *editor) behindComma(at int) int {
	if e.endsLine(at) {
		at = e.lineEnd(at)
	}
	next := at + len(e.text[at:]) - len(strings.TrimLeft(string(e.text[at:]), " \t\r\n"))
	if next < len(e.text) && e.text[next] == '#' {
		return at
	}
	return next
}

// insertBelow inserts an entry in flow style on a new line below another one, if that line ends with a comment. Otherwise it returns
// false.
func (e *editor) insertBelow(end int, separator, text string) bool {
	ownLine := strings.TrimPrefix(separator, ",")
	at := end
	if comma := e.skip(end, ""); comma < len(e.text) && e.text[comma] == ',' && e.lineStart(comma) == e.lineStart(end) {
		at = comma + 1
	}
	lineEnd := e.lineEnd(at)
	if !strings.HasPrefix(ownLine, e.newline) || !e.endsLine(at) || e.isBlank(at, lineEnd) {
		return false
	}
	if at == end {
		e.replace(end, end, ",")
		e.replace(lineEnd, lineEnd, ownLine+text)
	} else {
		e.replace(lineEnd, lineEnd, ownLine+text+",")
	}
	return true
}
