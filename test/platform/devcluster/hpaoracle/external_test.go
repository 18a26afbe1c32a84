package hpaoracle_test

import (
	"encoding/csv"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is the file of the main module. want is the HPA's proposal before its minimum and maximum, or
// "error" where it makes none: a Value target needs a pod to start from.
var golden = filepath.Join("..", "..", "..", "..", "controller", "timewindowscaler", "extmetric", "testdata", "external.csv")

var update = flag.Bool("update", false, "write the golden file instead of comparing with it")

// situation is one question. usage and target are in thousandths, as Quantity.MilliValue gives them; usage
// is the sum of a metric's values. target is above 0, as the API demands of an HPA's.
//
// Below 0 the HPA's answer is unusable: it takes a negative sum of an AverageValue for an overflow and asks for the
// highest int32.
type situation struct {
	average             bool
	usage, target       int64
	spec, status, ready int32
}

// row is the situation with its answer, in the golden file's columns.
func (c situation) row() []string {
	kind := "Value"
	if c.average {
		kind = "AverageValue"
	}
	answer := "error"
	if want, err := ask(c); err == nil {
		answer = strconv.Itoa(int(want))
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{kind, number(c.usage), number(c.target), number(int64(c.spec)), number(int64(c.status)),
		number(int64(c.ready)), strconv.FormatFloat(tolerance, 'g', -1, 64), answer}
}

// defined reports whether the answer is well defined: from 0 replicas it turns the bare ratio into an int32, and
// beyond that type's range Go leaves the result to the processor.
func (c situation) defined() bool {
	return c.average || c.spec != 0 || float64(c.usage)/float64(c.target) <= math.MaxInt32
}

// situations lists every question: corners, both edges of the tolerance, and a seeded draw.
func situations() []situation {
	all := slices.Concat(corners(), edges(), huge(), drawn(1200))
	all = slices.DeleteFunc(all, func(c situation) bool { return !c.defined() })
	seen := map[situation]bool{}
	return slices.DeleteFunc(all, func(c situation) bool {
		again := seen[c]
		seen[c] = true
		return again
	})
}

// both returns the question for either type of target.
func both(c situation) []situation {
	other := c
	other.average = !c.average
	return []situation{c, other}
}

// corners crosses small numbers, none of them in step with the others: no pods, none ready, fewer and more
// than asked for.
func corners() (all []situation) {
	for _, usage := range []int64{0, 1, 500, 1000, 1001, 3500} {
		for _, target := range []int64{1, 500, 1000, 3000} {
			for _, n := range [][3]int32{{0, 0, 0}, {0, 2, 2}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {3, 2, 1}, {3, 5, 5}, {10, 10, 7}} {
				all = append(all, both(situation{usage: usage, target: target, spec: n[0], status: n[1], ready: n[2]})...)
			}
		}
	}
	return all
}

// edges puts the sum on each edge of the tolerance, and a thousandth to either side of it.
func edges() (all []situation) {
	for _, target := range []int64{10, 70, 500, 1000, 3330, 100_000, 123_450, 1_000_000_000} {
		for _, replicas := range []int32{1, 2, 3, 7, 10, 97} {
			for _, percent := range []int64{90, 100, 110} {
				for _, off := range []int64{-1, 0, 1} {
					c := situation{target: target, spec: replicas, status: replicas, ready: replicas}
					value, average := c, c
					value.usage = target*percent/100 + off
					average.average, average.usage = true, target*int64(replicas)*percent/100+off
					all = append(all, value, average)
				}
			}
		}
	}
	return all
}

// huge goes to the end of both integer types.
func huge() (all []situation) {
	for _, usage := range []int64{math.MaxInt32, math.MaxInt32 * 1000, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, target := range []int64{1, 1000, math.MaxInt32, 1 << 53, math.MaxInt64} {
			for _, n := range []int32{0, 1, 1000} {
				all = append(all, both(situation{usage: usage, target: target, spec: n, status: n, ready: n})...)
			}
		}
	}
	return all
}

// drawn is a seeded draw over all magnitudes.
func drawn(n int) (all []situation) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range n {
		c := situation{average: draw.IntN(2) == 0, target: 1 + draw.Int64N(1<<(1+draw.IntN(40))), spec: draw.Int32N(1 << draw.IntN(10))}
		c.status = max(0, c.spec+draw.Int32N(7)-3)
		c.ready = draw.Int32N(c.status + 1)
		c.usage = int64(float64(c.target) * draw.ExpFloat64())
		if c.average {
			c.usage = int64(float64(c.target) * float64(c.status) * draw.ExpFloat64())
		}
		all = append(all, c)
	}
	return all
}

func TestGoldenFileIsUpToDate(t *testing.T) {
	table := [][]string{{"type", "usageMilli", "targetMilli", "specReplicas", "statusReplicas", "readyPods", "tolerance", "want"}}
	for _, c := range situations() {
		table = append(table, c.row())
	}
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(table); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(stored), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("%s is not what the HPA answers; write it anew with: go test ./hpaoracle -update\n%s", golden, diff)
	}
}
