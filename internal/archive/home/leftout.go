package home

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// namedOut is how many of what was left out are named.
const namedOut = 10

// leftOut is what could not be kept: the first few in the order of the stream, no matter which worker is first, and how
// many there are.
type leftOut struct {
	lock  sync.Mutex
	first []missing
	count int64
	kinds map[string]int64
}

type missing struct{ name, what string }

func (l *leftOut) out(name, what string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	at, _ := slices.BinarySearchFunc(l.first, name, func(m missing, name string) int {
		if compareNames(m.name, name) > 0 {
			return 1
		}
		return -1 // after others of the same name
	})
	l.first = slices.Insert(l.first, at, missing{name, what})
	l.first = l.first[:min(len(l.first), namedOut)]
	l.count++
	if l.kinds == nil {
		l.kinds = map[string]int64{}
	}
	l.kinds[kindOf(what)]++
}

// put sets the fields of a Summary.
func (l *leftOut) put(summary *Summary) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, m := range l.first {
		summary.LeftOut = append(summary.LeftOut, fmt.Sprintf("%q: %s", m.name, printable(m.what)))
	}
	summary.LeftOutCount, summary.LeftOutKinds = l.count, l.kinds
}

// printable escapes what would break a line or manipulate a terminal: the name of an attribute may have anything.
func printable(what string) string {
	if !strings.ContainsFunc(what, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return what
	}
	quoted := strconv.Quote(what)
	return quoted[1 : len(quoted)-1]
}

// kindOf is the first word of what was left out, such as attribute.
func kindOf(what string) string {
	kind, _, _ := strings.Cut(what, " ")
	return kind
}

// maxLeftOutText is the length of DescribeLeftOut in bytes; it fits into a status, an event and a marker.
const maxLeftOutText = 400

// DescribeLeftOut says in one line how much of each kind was left out, and names the first; "" if nothing was.
func DescribeLeftOut(kinds map[string]int64, names []string) string {
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		plural := "s"
		if kinds[kind] == 1 {
			plural = ""
		}
		counts = append(counts, fmt.Sprintf("%d %s%s", kinds[kind], kind, plural))
	}
	text := strings.Join(counts, ", ")
	if len(text) > maxLeftOutText {
		return ""
	}
	for i, name := range names {
		separator := ", "
		if i == 0 {
			separator = " ("
		}
		if len(text)+len(separator)+len(name)+len(", ...)") > maxLeftOutText {
			if i > 0 {
				text += ", ...)"
			}
			return text
		}
		text += separator + name
	}
	if len(names) > 0 {
		text += ")"
	}
	return text
}
