package timecalc

import "slices"

// ShadowedWindows returns, in ascending order, the windows that can never be the effective one,
// because later windows of the same zone cover every minute of theirs. A window that IdenticalWindows
// reports as the earlier of a pair is left to that function.
//
// The answer holds for every date and zone: coverage depends on weekday and wall time alone, so one
// week of wall time is all there is. Between two edges of any windows nothing changes; it is enough to
// ask which window is effective at each edge. Windows of different zones shift against each other over the year
// and with the zones' rules, so none counts as shadowing another.
func ShadowedWindows(windows []TimeWindow) []int {
	effective := make([]bool, len(windows))
	for _, pair := range IdenticalWindows(windows) {
		effective[pair[0]] = true // reported there, so not here
	}
	for _, alike := range byZone(windows) {
		for day := range int64(len(dayNames)) {
			for _, i := range alike {
				for _, edge := range [2]int16{windows[i].start, windows[i].end} {
					m := momentAt(day*secondsPerDay + int64(edge)*60)
					if last := lastOf(windows, alike, m); last >= 0 {
						effective[last] = true
					}
				}
			}
		}
	}
	var shadowed []int
	for i, ok := range effective {
		if !ok {
			shadowed = append(shadowed, i)
		}
	}
	return shadowed
}

// byZone groups the indexes of windows by the name of their own zone, each group in ascending order.
func byZone(windows []TimeWindow) map[string][]int {
	groups := make(map[string][]int)
	for i, w := range windows {
		groups[w.zoneName()] = append(groups[w.zoneName()], i)
	}
	return groups
}

// lastOf returns the last of the windows at the given indexes that covers m, or -1.
func lastOf(windows []TimeWindow, indexes []int, m moment) int {
	for _, i := range slices.Backward(indexes) {
		if windows[i].covers(m) {
			return i
		}
	}
	return -1
}

// IdenticalWindows returns the pairs (earlier, later) of windows with the same days, start, end, zone
// and replicas; zones go by their names, and the windows' own names do not matter. Of more than two
// equal windows, each is paired with the next one. A window without a zone equals none that has one:
// the schedule's zone is not known here.
func IdenticalWindows(windows []TimeWindow) [][2]int {
	type likeness struct {
		hours
		replicas int32
		zone     string
	}
	var pairs [][2]int
	last := make(map[likeness]int, len(windows))
	for i, w := range windows {
		key := likeness{w.hours, w.replicas, w.zoneName()}
		if j, ok := last[key]; ok {
			pairs = append(pairs, [2]int{j, i})
		}
		last[key] = i
	}
	return pairs
}
