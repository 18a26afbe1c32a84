package extmetric

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

// Every row of the file is an answer of Kubernetes' own calculator.
func TestSameAnswersAsKubernetes(t *testing.T) {
	file, err := os.Open("testdata/external.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]int{}
	for i, row := range rows[1:] {
		number := func(column int) int64 {
			n, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				t.Fatalf("line %d: %v", i+2, err)
			}
			return n
		}
		tolerance, err := strconv.ParseFloat(row[6], 64)
		if err != nil {
			t.Fatalf("line %d: %v", i+2, err)
		}
		rule := Rule{Type: row[0], Target: number(2), Tolerance: tolerance}
		state := State{Current: int32(number(3)), Observed: int32(number(4)), Ready: int32(number(5))}
		got := rule.Propose(number(1), state)
		answers[row[0]]++
		if row[7] == "error" { // the HPA leaves the workload as it is
			if !got.Keep || got.Replicas != state.Current {
				t.Errorf("line %d: %v: %+v, want the current count", i+2, row, got)
			}
			continue
		}
		if int64(got.Replicas) != number(7) {
			t.Errorf("line %d: %v: %+v", i+2, row, got)
		}
	}
	if answers[TypeValue] < 1000 || answers[TypeAverageValue] < 1000 {
		t.Errorf("too few answers to prove anything: %v", answers)
	}
}

func TestPropose(t *testing.T) {
	value, average := Rule{Type: TypeValue, Target: 100_000, Tolerance: 0.1}, Rule{Type: TypeAverageValue, Target: 100_000, Tolerance: 0.1}
	for name, tc := range map[string]struct {
		rule  Rule
		milli int64
		state State
		want  Proposal
	}{
		"twice the target":               {value, 200_000, State{Current: 3, Observed: 3, Ready: 3}, Proposal{Replicas: 6}},
		"only ready pods count":          {value, 200_000, State{Current: 3, Observed: 3, Ready: 2}, Proposal{Replicas: 4}},
		"at the tolerance's edge":        {value, 110_000, State{Current: 3, Observed: 3, Ready: 3}, Proposal{Replicas: 3, Keep: true}},
		"beyond it":                      {value, 110_001, State{Current: 3, Observed: 3, Ready: 3}, Proposal{Replicas: 4}},
		"up from 0":                      {value, 350_000, State{}, Proposal{Replicas: 4}},
		"no pods yet":                    {value, 350_000, State{Current: 3}, Proposal{Replicas: 3, Keep: true}},
		"average":                        {average, 350_000, State{Current: 1, Observed: 1}, Proposal{Replicas: 4}},
		"average, within":                {average, 350_000, State{Current: 4, Observed: 4}, Proposal{Replicas: 4}},
		"average, at the edge":           {average, 360_000, State{Current: 5, Observed: 4}, Proposal{Replicas: 4, Keep: true}},
		"average, up from 0":             {average, 1, State{}, Proposal{Replicas: 1}},
		"average, nothing of nothing":    {average, 0, State{}, Proposal{}},
		"average, nothing to do":         {average, 0, State{Current: 4, Observed: 4}, Proposal{}},
		"no tolerance":                   {Rule{Type: TypeValue, Target: 1000}, 1001, State{Current: 1, Observed: 1, Ready: 1}, Proposal{Replicas: 2}},
		"more than an int32 from 0":      {value, math.MaxInt64, State{}, Proposal{Replicas: math.MaxInt32}},
		"below 0, as no metric asks for": {value, math.MinInt64, State{}, Proposal{Replicas: math.MinInt32}},
	} {
		if got := tc.rule.Propose(tc.milli, tc.state); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestSum(t *testing.T) {
	for name, tc := range map[string]struct {
		values []int64
		want   int64
	}{
		"none":          {nil, 0},
		"some":          {[]int64{1, 20, 300}, 321},
		"too much":      {[]int64{math.MaxInt64, 1, -5}, math.MaxInt64},
		"too little":    {[]int64{math.MinInt64, -1, 5}, math.MinInt64},
		"just right":    {[]int64{math.MaxInt64 - 1, 1}, math.MaxInt64},
		"there, back":   {[]int64{math.MaxInt64, -1}, math.MaxInt64 - 1},
		"both extremes": {[]int64{math.MinInt64, math.MaxInt64}, -1},
	} {
		if got := Sum(tc.values); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestClamp(t *testing.T) {
	for _, tc := range [][4]int32{{0, 1, 10, 1}, {11, 1, 10, 10}, {5, 1, 10, 5}, {-3, 0, 10, 0}, {7, 7, 7, 7}} {
		if got := Clamp(tc[0], tc[1], tc[2]); got != tc[3] {
			t.Errorf("Clamp(%d, %d, %d) is %d, want %d", tc[0], tc[1], tc[2], got, tc[3])
		}
	}
}
