package conversion

import "slices"

// maxPairs limits the work of comparing two lists. The API allows 100 windows, which is 10,000 pairs.
const maxPairs = 1 << 16

// matching says which item of a base list each item of an edited list was.
type matching struct {
	base, edited, original []any
	// origin is the index in base of each edited item, or -1. fate is the opposite.
	origin, fate []int
	// doubtful marks the items of base that may have become one of several edited items, or none, although original has
	// more of them than base shows.
	doubtful []bool
}

// matchItems matches the items of edited with those of base, which shows original. Equal items are the same, wherever
// they are. The others are matched if one has clearly become the other. What is left was removed, or is new.
func matchItems(base, edited, original []any) *matching {
	m := &matching{base: base, edited: edited, original: original, doubtful: make([]bool, len(base))}
	m.origin, m.fate = unmatched(len(edited)), unmatched(len(base))
	switch {
	case len(base)*len(edited) > maxPairs:
		for i := range min(len(base), len(edited)) {
			m.pair(i, i)
		}
		return m
	case m.inPlace():
		m.pairInPlace()
	default:
		m.pairEqual()
	}
	m.pairEdited()
	m.findDoubts()
	return m
}

func unmatched(count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = -1
	}
	return list
}

func (m *matching) pair(i, j int) { m.origin[j], m.fate[i] = i, j }

// inPlace reports whether no item seems to have moved, come or gone.
func (m *matching) inPlace() bool {
	if len(m.base) != len(m.edited) {
		return false
	}
	for i := range m.base {
		if Same(m.base[i], m.edited[i]) {
			continue
		}
		for k := range m.base {
			if Same(m.base[k], m.edited[i]) && !Same(m.base[k], m.edited[k]) {
				return false
			}
		}
	}
	return true
}

// pairInPlace matches the items that are unchanged, and the others if each can be the one that was in its place. Then
// nobody can tell whether they have moved instead if one of them resembles another one more.
func (m *matching) pairInPlace() {
	var changed []int
	resemble, others := true, false
	for i := range m.base {
		if Same(m.base[i], m.edited[i]) {
			m.pair(i, i)
			continue
		}
		changed = append(changed, i)
		resemble = resemble && resembles(m.base[i], m.edited[i], true)
	}
	if !resemble {
		return
	}
	for _, i := range changed {
		m.pair(i, i)
		for _, k := range changed {
			others = others || similarity(m.base[k], m.edited[i]) > similarity(m.base[i], m.edited[i])
		}
	}
	if others {
		m.doubtHidden(changed)
	}
}

// doubtHidden marks those of the items of which original has more than base shows.
func (m *matching) doubtHidden(items []int) {
	for _, i := range items {
		if !Same(m.original[i], m.base[i]) {
			m.doubtful[i] = true
		}
	}
}

// pairEqual matches equal items in their order. If there are fewer than before, nobody can tell which ones are left.
func (m *matching) pairEqual() {
	seen := make([]bool, len(m.base))
	for i := range m.base {
		if seen[i] {
			continue
		}
		var before, after []int
		for k := i; k < len(m.base); k++ {
			if !seen[k] && Same(m.base[i], m.base[k]) {
				seen[k] = true
				before = append(before, k)
			}
		}
		for j := range m.edited {
			if Same(m.base[i], m.edited[j]) {
				after = append(after, j)
			}
		}
		for n := range min(len(before), len(after)) {
			m.pair(before[n], after[n])
		}
		if len(after) > 0 && len(after) < len(before) {
			m.doubtIfDifferent(before)
		}
	}
}

// doubtIfDifferent marks items that look alike and are not.
func (m *matching) doubtIfDifferent(alike []int) {
	for _, i := range alike {
		if !Same(m.original[i], m.original[alike[0]]) {
			for _, k := range alike {
				m.doubtful[k] = true
			}
			return
		}
	}
}

// pairEdited matches items that are left in both lists if each resembles the other more than anything else.
func (m *matching) pairEdited() {
	scores := make([][]int, len(m.base))
	var gone, come []int
	for i, j := range m.fate {
		if j < 0 {
			gone = append(gone, i)
		}
	}
	for j, i := range m.origin {
		if i < 0 {
			come = append(come, j)
		}
	}
	for _, i := range gone {
		scores[i] = make([]int, len(m.edited))
		for _, j := range come {
			scores[i][j] = similarity(m.base[i], m.edited[j])
		}
	}
	alone := len(gone) == 1 && len(come) == 1
	for _, i := range gone {
		for _, j := range come {
			if resembles(m.base[i], m.edited[j], alone) && closest(scores, gone, come, i, j) {
				m.pair(i, j)
			}
		}
	}
}

// closest reports whether no other of the items that are left resembles i or j as much as they resemble each other.
func closest(scores [][]int, gone, come []int, i, j int) bool {
	for _, k := range gone {
		if k != i && scores[k][j] >= scores[i][j] {
			return false
		}
	}
	for _, k := range come {
		if k != j && scores[i][k] >= scores[i][j] {
			return false
		}
	}
	return true
}

// resembles reports whether more than half of an object's fields are unchanged; exactly half is enough if there is no
// other object that it may have become.
func resembles(a, b any, alone bool) bool {
	object, ok := a.(map[string]any)
	shared := 2 * similarity(a, b)
	return ok && (shared > len(object) || alone && shared == len(object))
}

// similarity counts the fields that two objects share.
func similarity(a, b any) (score int) {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for name := range x {
		if value, ok := y[name]; ok && Same(x[name], value) {
			score++
		}
	}
	return score
}

// findDoubts marks the items that are gone while others came: they may have been replaced or edited.
func (m *matching) findDoubts() {
	if !slices.Contains(m.origin, -1) {
		return
	}
	var gone []int
	for i, j := range m.fate {
		if j < 0 {
			gone = append(gone, i)
		}
	}
	m.doubtHidden(gone)
}
