package admission

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/timecalc"
)

// maxWindowWarnings bounds the warnings of one kind about windows; the rest is counted.
const maxWindowWarnings = 4

// windowWarnings names the windows that change nothing: those that a later one repeats, and those
// that later ones cover completely. Of two equal windows it is the first that can go.
func windowWarnings(windows []timecalc.TimeWindow, path *field.Path) []string {
	var repeated []string
	for _, pair := range timecalc.IdenticalWindows(windows) {
		repeated = append(repeated, fmt.Sprintf("%s never takes effect: %s covers the same times, and of the windows that cover a moment the last in the list decides",
			describeWindow(path, windows, pair[0]), path.Index(pair[1])))
	}
	shadowed := timecalc.ShadowedWindows(windows)
	var covered []string
	for _, i := range shadowed[:min(maxWindowWarnings, len(shadowed))] {
		covered = append(covered, fmt.Sprintf("%s never takes effect: %s, and of the windows that cover a moment the last in the list decides",
			describeWindow(path, windows, i), coverage(path, windows, i)))
	}
	warnings := capWarnings(repeated, len(repeated), "%s: %d more windows cover the same times as a later one", path)
	return append(warnings, capWarnings(covered, len(shadowed), "%s: %d more windows never take effect", path)...)
}

// capWarnings returns at most maxWindowWarnings of the lines, and if there are more, total in all, a
// line that counts the rest by format (path, number).
func capWarnings(lines []string, total int, format string, path *field.Path) []string {
	lines = lines[:min(maxWindowWarnings, len(lines))]
	if rest := total - len(lines); rest > 0 {
		lines = append(lines, fmt.Sprintf(format, path, rest))
	}
	return lines
}

// coverage says which later windows cover all of windows[i].
func coverage(path *field.Path, windows []timecalc.TimeWindow, i int) string {
	covering := coveringWindows(windows, i)
	if len(covering) == 1 {
		// Only windows of one zone cover one another, so it is named once.
		return fmt.Sprintf("%s (%s) covers all of it", path.Index(covering[0]), windows[covering[0]].In(nil))
	}
	return fmt.Sprintf("%s and %s together cover all of it", listIndexes(path, covering[:len(covering)-1]), path.Index(covering[len(covering)-1]))
}

// coveringWindows returns windows after the shadowed windows[i] that cover all of it and of which
// none can be left out: the single last one if one suffices.
func coveringWindows(windows []timecalc.TimeWindow, i int) []int {
	covers := func(by []int) bool {
		subset := []timecalc.TimeWindow{windows[i]}
		for _, j := range by {
			subset = append(subset, windows[j])
		}
		return slices.Contains(timecalc.ShadowedWindows(subset), 0)
	}
	var later []int
	for j := len(windows) - 1; j > i; j-- {
		if covers([]int{j}) {
			return []int{j}
		}
		later = append(later, j)
	}
	slices.Reverse(later)
	for k := 0; k < len(later); {
		if without := slices.Delete(slices.Clone(later), k, k+1); covers(without) {
			later = without
			continue
		}
		k++
	}
	return later
}

// listIndexes names up to three windows and counts the rest.
func listIndexes(path *field.Path, indexes []int) string {
	const most = 3
	text := ""
	for k, i := range indexes[:min(most, len(indexes))] {
		if k > 0 {
			text += ", "
		}
		text += path.Index(i).String()
	}
	if rest := len(indexes) - most; rest > 0 {
		text += fmt.Sprintf(", %d more", rest)
	}
	return text
}

// describeWindow names a window by its place in the list and by what it says:
// spec.windows[0] (Mon-Fri 09:00-17:00).
func describeWindow(path *field.Path, windows []timecalc.TimeWindow, i int) string {
	return fmt.Sprintf("%s (%s)", path.Index(i), windows[i])
}
