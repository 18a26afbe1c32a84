package admission

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/timecalc"
)

const lastWins = "if windows overlap, the last one in the list wins"

// checkWindows warns about windows without effect: those that a later one repeats, and those that later ones
// cover completely. Of two equal windows the first one is reported.
func (all *Findings) checkWindows(windows []timecalc.TimeWindow, path *field.Path) {
	var repeated, covered Findings
	for _, pair := range timecalc.IdenticalWindows(windows) {
		repeated.warn(WindowRepeated, path.Index(pair[0]), "%s never takes effect: %s covers the same times; %s",
			windows[pair[0]], path.Index(pair[1]), lastWins)
	}
	all.warnListed(repeated, len(repeated), path, "windows cover the same times as a later one")
	shadowed := timecalc.ShadowedWindows(windows)
	for _, i := range shadowed[:min(maxListed, len(shadowed))] {
		covered.warn(WindowCovered, path.Index(i), "%s never takes effect: %s; %s", windows[i], coverage(path, windows, i), lastWins)
	}
	all.warnListed(covered, len(shadowed), path, "windows never take effect")
}

// coverage names the later windows that cover all of windows[i].
func coverage(path *field.Path, windows []timecalc.TimeWindow, i int) string {
	covering := coveringWindows(windows, i)
	if len(covering) == 1 {
		// Only windows in the same zone cover one another, so it is not repeated.
		return fmt.Sprintf("%s (%s) covers all of it", path.Index(covering[0]), windows[covering[0]].In(nil))
	}
	names := make([]string, len(covering))
	for k, j := range covering {
		names[k] = path.Index(j).String()
	}
	if last := len(names) - 1; last < maxListed {
		return fmt.Sprintf("%s and %s together cover all of it", strings.Join(names[:last], ", "), names[last])
	}
	return firstOf(names, maxListed) + " together cover all of it"
}

// coveringWindows returns windows after the shadowed windows[i] that cover all of it and are all needed to
// do so: the single last one if one suffices.
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
