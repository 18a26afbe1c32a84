package extmetric

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func drawRule(t *rapid.T) Rule {
	return Rule{
		Type:      rapid.SampledFrom([]string{TypeValue, TypeAverageValue}).Draw(t, "type"),
		Target:    rapid.Int64Range(1, math.MaxInt64).Draw(t, "target"),
		Tolerance: rapid.Float64Range(0, 0.99).Draw(t, "tolerance"),
	}
}

func drawState(t *rapid.T) State {
	count := rapid.Int32Range(0, math.MaxInt32)
	return State{Current: count.Draw(t, "current"), Observed: count.Draw(t, "observed"), Ready: count.Draw(t, "ready")}
}

// More of a metric never asks for fewer replicas, the tolerance aside: what it keeps lies between the
// answers on either side of it wherever pods are as many as asked for, and ready.
func TestMoreNeverAsksForFewer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		count := rapid.Int32Range(0, 100_000).Draw(t, "count")
		state := State{Current: count, Observed: count, Ready: count}
		milli := rapid.Int64Range(0, math.MaxInt64)
		less, more := milli.Draw(t, "one"), milli.Draw(t, "other")
		if less > more {
			less, more = more, less
		}
		if a, b := rule.Propose(less, state), rule.Propose(more, state); a.Replicas > b.Replicas {
			t.Fatalf("%d asks for %+v, %d for %+v", less, a, more, b)
		}
	})
}

// Whatever the input, no answer is outside [lowest, highest], and an answer for a metric from 0 is from 0.
func TestNeverOutsideTheBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lowest := rapid.Int32Range(0, math.MaxInt32).Draw(t, "lowest")
		highest := rapid.Int32Range(lowest, math.MaxInt32).Draw(t, "highest")
		milli := rapid.Int64().Draw(t, "milli")
		p := drawRule(t).Propose(milli, drawState(t))
		if got := Clamp(p.Replicas, lowest, highest); got < lowest || got > highest {
			t.Fatalf("%d is outside [%d, %d]", got, lowest, highest)
		}
		if milli >= 0 && p.Replicas < 0 {
			t.Fatalf("%d replicas for %d", p.Replicas, milli)
		}
	})
}

// Against exact fractions: the smallest count that brings the metric to its target or below it, or no
// change within the tolerance. Numbers are small enough to be distinct as floats.
func TestAgainstFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := rapid.Int64Range(1, 1_000_000).Draw(t, "target")
		milli := rapid.Int64Range(0, 1_000_000_000).Draw(t, "milli")
		count := rapid.Int32Range(1, 1000).Draw(t, "count")
		state := State{Current: count, Observed: count, Ready: count}
		const percent = 25 // a quarter is exact in binary, so no edge depends on rounding

		for _, kind := range []string{TypeValue, TypeAverageValue} {
			ratio, whole := big.NewRat(milli, target), big.NewInt(milli)
			if kind == TypeAverageValue {
				ratio.Quo(ratio, big.NewRat(int64(count), 1))
			} else {
				whole.Mul(whole, big.NewInt(int64(count)))
			}
			want := count
			if ratio.Cmp(big.NewRat(100-percent, 100)) < 0 || ratio.Cmp(big.NewRat(100+percent, 100)) > 0 {
				up := new(big.Int).Add(whole, big.NewInt(target-1))
				want = int32(min(math.MaxInt32, up.Div(up, big.NewInt(target)).Int64()))
			}
			got := Rule{Type: kind, Target: target, Tolerance: percent / 100.0}.Propose(milli, state).Replicas
			// Ratio times count is rounded twice, so a whole number can come out as the next one.
			divides := new(big.Int).Rem(whole, big.NewInt(target)).Sign() == 0
			rounded := kind == TypeValue && divides && got == want+1
			if got != want && !rounded {
				t.Fatalf("%s: %d of %d at %d replicas: %d, want %d", kind, milli, target, count, got, want)
			}
		}
	})
}

func TestSumIsExactOrAtTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 0, 5).Draw(t, "values")
		sum := new(big.Int)
		for _, v := range values {
			sum.Add(sum, big.NewInt(v))
		}
		want := int64(math.MaxInt64)
		if sum.IsInt64() {
			want = sum.Int64()
		}
		if got := Sum(values); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
