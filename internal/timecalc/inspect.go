package timecalc

// ShadowedWindows returns, in ascending order, the windows that can never be the effective one,
// because later windows cover every minute of theirs. A window that IdenticalWindows reports as the
// earlier of a pair is left to that function.
//
// The answer holds for every date and zone: coverage depends on weekday and wall time alone, so one
// week of wall time is all there is. Between two edges of any windows nothing changes; it is enough to
// ask who is effective at each edge.
func ShadowedWindows(windows []TimeWindow) []int {
	effective := make([]bool, len(windows))
	for _, pair := range IdenticalWindows(windows) {
		effective[pair[0]] = true // reported there, so not here
	}
	for day := range int64(len(dayNames)) {
		for _, w := range windows {
			for _, edge := range [2]int16{w.start, w.end} {
				m := momentAt(day*secondsPerDay + int64(edge)*60)
				if i := lastCovering(windows, m); i >= 0 {
					effective[i] = true
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

// IdenticalWindows returns the pairs (earlier, later) of windows with the same days, start, end and
// replicas. Of more than two equal windows, each is paired with the next one.
func IdenticalWindows(windows []TimeWindow) [][2]int {
	var pairs [][2]int
	last := make(map[TimeWindow]int, len(windows))
	for i, w := range windows {
		if j, ok := last[w]; ok {
			pairs = append(pairs, [2]int{j, i})
		}
		last[w] = i
	}
	return pairs
}
