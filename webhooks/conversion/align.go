package conversion

// maxAlignedPairs bounds the work on two lists; 100 windows, the most that v1alpha1 and v1beta1
// allow, are 10,000 pairs. Longer lists come from no API server.
const maxAlignedPairs = 1 << 16

// unchanged is what a pair of equal items is worth. It outweighs all pairs of edited ones: each is
// worth 1, and 1 more for each field that stayed.
const unchanged = 1 << 12

// align says for each item of theirs which item of base it was, -1 for none. Equal items come first:
// as many as follow one another in both lists, then those that were moved. What is left between them
// are edits: items that come in the same order and share the most fields belong together.
func align(base, theirs []any) []int {
	if len(base)*len(theirs) > maxAlignedPairs {
		return byPosition(len(base), len(theirs))
	}
	worth := make([][]int, len(base))
	for i := range base {
		worth[i] = make([]int, len(theirs))
		for j := range theirs {
			worth[i][j] = likeness(base[i], theirs[j])
		}
	}
	was := inOrder(worth, len(theirs))
	return moved(worth, was)
}

// likeness is what it is worth to take b for what became of a.
func likeness(a, b any) int {
	if Same(a, b) {
		return unchanged
	}
	worth := 1
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for name := range x {
		if value, ok := y[name]; ok && Same(x[name], value) {
			worth++
		}
	}
	return worth
}

// inOrder finds the pairs that do not cross and are worth the most together.
func inOrder(worth [][]int, columns int) []int {
	best := make([][]int, len(worth)+1) // of the items from i and from j on
	for i := range best {
		best[i] = make([]int, columns+1)
	}
	for i := len(worth) - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+worth[i][j])
		}
	}
	was := byPosition(0, columns)
	for i, j := 0, 0; i < len(worth) && j < columns; {
		switch best[i][j] {
		case best[i+1][j+1] + worth[i][j]:
			was[j] = i
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return was
}

// moved pairs equal items that cross others. They take their item from whoever has it for an edit.
func moved(worth [][]int, was []int) []int {
	holder := make([]int, len(worth))
	for i := range holder {
		holder[i] = -1
	}
	for j, i := range was {
		if i >= 0 {
			holder[i] = j
		}
	}
	isUnchanged := func(i, j int) bool { return i >= 0 && j >= 0 && worth[i][j] == unchanged }
	for j := range was {
		for i := 0; i < len(worth) && !isUnchanged(was[j], j); i++ {
			if worth[i][j] != unchanged || isUnchanged(i, holder[i]) {
				continue
			}
			if was[j] >= 0 {
				holder[was[j]] = -1
			}
			if holder[i] >= 0 {
				was[holder[i]] = -1
			}
			was[j], holder[i] = i, j
		}
	}
	return was
}

func byPosition(base, theirs int) []int {
	was := make([]int, theirs)
	for j := range was {
		was[j] = j
		if j >= base {
			was[j] = -1
		}
	}
	return was
}
