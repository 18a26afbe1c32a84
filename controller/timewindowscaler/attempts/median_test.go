package attempts

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The estimate comes close to the median of what it is given, also if some of it hangs.
func TestTheMedianOfAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		usual := time.Duration(rapid.IntRange(2, 2000).Draw(t, "ms")) * time.Millisecond
		answers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			if rapid.IntRange(0, 9).Draw(t, "hangs") == 0 {
				return 30 * time.Second
			}
			return usual * time.Duration(rapid.IntRange(90, 110).Draw(t, "percent")) / 100
		}), 400, 400).Draw(t, "answers")
		m := median(firstMedian)
		for _, took := range answers {
			m.add(took)
		}
		slices.Sort(answers)
		if want := answers[len(answers)/2]; want < 10*time.Second && (time.Duration(m) < want/3 || time.Duration(m) > want*3) {
			t.Fatalf("%s, want about %s", time.Duration(m), want)
		}
	})
}

// Beside quick answers a second is slow. Where all are slow it is not, but five seconds always are.
func TestSlowAnswers(t *testing.T) {
	for _, tc := range []struct{ median, quick, slow time.Duration }{
		{5 * time.Millisecond, 999 * time.Millisecond, time.Second},
		{300 * time.Millisecond, 2399 * time.Millisecond, 2400 * time.Millisecond},
		{time.Minute, 4999 * time.Millisecond, 5 * time.Second},
	} {
		if median(tc.median).isSlow(tc.quick) || !median(tc.median).isSlow(tc.slow) {
			t.Errorf("median %s: %s slow %v, %s slow %v", tc.median, tc.quick, median(tc.median).isSlow(tc.quick), tc.slow, median(tc.median).isSlow(tc.slow))
		}
	}
}
