package bench

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
)

// Counts defines a flag for the sizes of a benchmark, such as 100,1000. Empty is none.
func Counts(name string, value []int, usage string) *[]int {
	counts := &value
	flag.Func(name, usage, func(text string) error {
		*counts = nil
		if text == "" {
			return nil
		}
		for one := range strings.SplitSeq(text, ",") {
			count, err := strconv.Atoi(one)
			if err != nil {
				return fmt.Errorf("%q is not a number", one)
			}
			*counts = append(*counts, count)
		}
		return nil
	})
	return counts
}
