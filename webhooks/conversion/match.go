package conversion

// maxPairs limits the work of comparing two lists. The API allows 100 windows, which is 10,000 pairs.
const maxPairs = 1 << 16

// unchanged is the score of a pair of equal items. It is higher than that of all pairs of edited ones: those
// score 1, plus 1 for each unchanged field.
const unchanged = 1 << 12

// matchItems returns for each item of edited the index of its original in base, or -1. Equal items are matched
// first: those in the same order in both lists, then those that were moved. The items between them are edits:
// the ones in the same order that share the most fields are matched.
func matchItems(base, edited []any) []int {
	if len(base)*len(edited) > maxPairs {
		return byPosition(len(base), len(edited))
	}
	score := make([][]int, len(base))
	for i := range base {
		score[i] = make([]int, len(edited))
		for j := range edited {
			score[i][j] = similarity(base[i], edited[j])
		}
	}
	return matchMoved(score, matchInOrder(score, len(edited)))
}

// similarity is the score for b being an edit of a.
func similarity(a, b any) int {
	if Same(a, b) {
		return unchanged
	}
	score := 1
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for name := range x {
		if value, ok := y[name]; ok && Same(x[name], value) {
			score++
		}
	}
	return score
}

// matchInOrder finds the pairs that do not cross and have the highest total score.
func matchInOrder(score [][]int, columns int) []int {
	best := make([][]int, len(score)+1) // for the items from i and from j on
	for i := range best {
		best[i] = make([]int, columns+1)
	}
	for i := len(score) - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+score[i][j])
		}
	}
	match := byPosition(0, columns)
	for i, j := 0, 0; i < len(score) && j < columns; {
		switch best[i][j] {
		case best[i+1][j+1] + score[i][j]:
			match[j] = i
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return match
}

// matchMoved matches equal items that cross others, instead of edits that they were matched with.
func matchMoved(score [][]int, match []int) []int {
	inverse := byPosition(0, len(score))
	for j, i := range match {
		if i >= 0 {
			inverse[i] = j
		}
	}
	isUnchanged := func(i, j int) bool { return i >= 0 && j >= 0 && score[i][j] == unchanged }
	for j := range match {
		for i := 0; i < len(score) && !isUnchanged(match[j], j); i++ {
			if score[i][j] != unchanged || isUnchanged(i, inverse[i]) {
				continue
			}
			if match[j] >= 0 {
				inverse[match[j]] = -1
			}
			if inverse[i] >= 0 {
				match[inverse[i]] = -1
			}
			match[j], inverse[i] = i, j
		}
	}
	return match
}

// byPosition matches items at the same index.
func byPosition(base, edited int) []int {
	match := make([]int, edited)
	for j := range match {
		match[j] = j
		if j >= base {
			match[j] = -1
		}
	}
	return match
}
