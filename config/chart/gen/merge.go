package main

import (
	"slices"
	"strings"
)

// merge returns the lines that one and other share, and each of the rest under the condition of its text.
func merge(one, other, ifOne, ifOther string) string {
	a, b := slices.Collect(strings.Lines(one)), slices.Collect(strings.Lines(other))
	longest := common(a, b)
	var out, onlyA, onlyB strings.Builder
	flush := func() {
		out.WriteString(either(onlyA.String(), onlyB.String(), ifOne, ifOther))
		onlyA.Reset()
		onlyB.Reset()
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush()
			out.WriteString(a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			onlyA.WriteString(a[i])
			i++
		default:
			onlyB.WriteString(b[j])
			j++
		}
	}
	flush()
	return out.String()
}

func either(one, other, ifOne, ifOther string) string {
	switch {
	case one == "" && other == "":
		return ""
	case one == "":
		return wrap(other, ifOther)
	case other == "":
		return wrap(one, ifOne)
	}
	return "{{- if " + ifOne + " }}\n" + one + "{{- else }}\n" + other + "{{- end }}\n"
}

// common returns, for each place in a and b, how many lines the rests have in common, in order.
func common(a, b []string) [][]int {
	longest := make([][]int, len(a)+1)
	longest[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		longest[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	return longest
}
