package convert

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/webhooks/conversion"
)

type entry struct {
	key, value *yaml.Node
	gone       bool
}

func entries(mapping *yaml.Node) (all []*entry) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		all = append(all, &entry{key: mapping.Content[i], value: mapping.Content[i+1]})
	}
	return all
}

// named is the last entry of a name, which counts; nil if there is none.
func named(all []*entry, name string) (found *entry) {
	for _, one := range all {
		if one.key.Value == name && one.key.Kind == yaml.ScalarNode {
			found = one
		}
	}
	return found
}

// mapping changes entries of a mapping. Fields that are not in the text were merged (<<); to change them, the mapping is encoded
// again.
func (e *editor) mapping(at slot, before, after map[string]any) error {
	all, merged, left := entries(at.value), false, 0
	flow := at.flow || isFlow(at.value)
	for _, name := range names(before) {
		now, stays := after[name]
		if stays && conversion.Same(before[name], now) {
			continue
		}
		switch one := named(all, name); {
		case one == nil:
			merged = true
		case stays:
			if err := e.change(slot{join(at.path, name), one.value, one.key, flow}, before[name], now); err != nil {
				return err
			}
		default:
			for _, other := range all {
				other.gone = other.gone || other.key.Value == name
			}
		}
	}
	for _, one := range all {
		if !one.gone {
			left++
		}
	}
	if left == 0 || merged && e.expand {
		return e.rewrite(at, after)
	}
	remove := e.remove
	if flow {
		remove = e.removeWithin
	}
	if err := remove(all); err != nil {
		return err
	}
	for _, name := range names(after) {
		if _, was := before[name]; !was {
			if err := e.insert(at.value, all, name, after[name], flow); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes entries in block style, of which at least one remains. Comments on their own lines are kept.
func (e *editor) remove(all []*entry) error {
	begin, err := e.start(all[0].key)
	if err != nil {
		return err
	}
	behindDash := !e.isBlank(e.lineStart(begin), begin)
	for _, one := range all {
		// The first remaining entry moves behind the dash.
		behindDash = behindDash && one.gone
		if !one.gone {
			continue
		}
		from, err := e.start(one.key)
		if err != nil {
			return err
		}
		to, err := e.end(one.value)
		if err != nil {
			return err
		}
		if behindDash {
			to = e.nextText(to) // the next entry takes its place
		} else {
			from, to = e.wholeLines(from, to)
		}
		e.replace(from, to, "")
	}
	return nil
}

// nextText is where the next line that is not blank begins, after its indentation.
func (e *editor) nextText(at int) int {
	line := e.nextLine(at)
	for line < len(e.text) && e.isBlank(line, e.lineEnd(line)) {
		line = e.nextLine(line)
	}
	return line + len(e.text[line:]) - len(strings.TrimLeft(string(e.text[line:]), " "))
}

// wholeLines widens a range to its lines, and at the end of a text without a final line break to the break before.
func (e *editor) wholeLines(from, to int) (begin, end int) {
	begin, end = e.lineStart(from), e.nextLine(to)
	if end == len(e.text) && e.lineEnd(to) == end && begin > 0 {
		begin = e.lineEnd(e.lineStart(begin - 1))
	}
	return begin, end
}

// insert inserts an entry in the usual order of fields, but after merge keys: for the API server the later of the two counts. In flow
// style it gets its own line if the others have one.
func (e *editor) insert(mapping *yaml.Node, all []*entry, name string, value any, flow bool) error {
	var first, before *entry
	for _, one := range all {
		if one.gone {
			continue
		}
		if first == nil {
			first = one
		}
		if own := rank(one.key.Value); own < rank(name) || rank(name) == len(order) || one.key.Tag == "!!merge" {
			before = one
		}
	}
	indent := all[0].key.Column - 1
	text, separator := e.entry(name, value, flow, indent), e.newline+strings.Repeat(" ", indent)
	if flow {
		if all[0].key.Line == mapping.Line {
			separator = " "
			text = e.entry(name, value, flow, 0)
		}
		separator = "," + separator
	}
	if before == nil {
		at, err := e.start(first.key)
		if err != nil {
			return err
		}
		e.replace(at, at, text+separator)
		return nil
	}
	at, err := e.end(before.value)
	if err != nil {
		return err
	}
	switch {
	case !flow:
		at = e.lineEnd(at)
	case e.insertBelow(at, separator, text):
		return nil
	}
	e.replace(at, at, separator+text)
	return nil
}
