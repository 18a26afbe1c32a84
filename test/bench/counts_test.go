package bench

import (
	"flag"
	"slices"
	"testing"
)

func TestCounts(t *testing.T) {
	counts := Counts("test-counts", []int{7}, "")
	for _, tc := range []struct {
		text string
		want []int
	}{{"", []int{7}}, {"0,100", []int{0, 100}}, {"5", []int{5}}} {
		if tc.text != "" {
			if err := flag.Set("test-counts", tc.text); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(*counts, tc.want) {
			t.Errorf("%q: got %v", tc.text, *counts)
		}
	}
	if err := flag.Set("test-counts", ""); err != nil || len(*counts) != 0 {
		t.Errorf("empty: %v, %v", *counts, err)
	}
	for _, bad := range []string{"a", "1,", "1 2"} {
		if flag.Set("test-counts", bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
