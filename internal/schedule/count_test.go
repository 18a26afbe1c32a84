package schedule_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/schedule"
)

// A percentage is the smallest whole number that is not below it, by exact fractions (A6).
func TestAPercentageIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		baseline, percent := rapid.Int32Range(1, 100_000).Draw(t, "baseline"), rapid.IntRange(0, schedule.MaxPercent).Draw(t, "percent")
		got, err := schedule.Count(intstr.FromString(fmt.Sprintf("%d%%", percent)), &baseline)
		if err != nil {
			t.Fatal(err)
		}
		exact := big.NewRat(int64(baseline)*int64(percent), 100)
		if count := big.NewRat(int64(got), 1); count.Cmp(exact) < 0 {
			t.Errorf("%d%% of %d is %s; got %d", percent, baseline, exact.FloatString(2), got)
		}
		if below := big.NewRat(int64(got)-1, 1); below.Cmp(exact) >= 0 {
			t.Errorf("%d%% of %d is %s; got %d, and one less would do", percent, baseline, exact.FloatString(2), got)
		}
	})
}

func TestCount(t *testing.T) {
	for name, tc := range map[string]struct {
		replicas intstr.IntOrString
		baseline *int32
		want     int32
	}{
		"a number":                      {intstr.FromInt32(7), nil, 7},
		"a number with a baseline":      {intstr.FromInt32(7), ptr.To[int32](100), 7},
		"the highest number":            {intstr.FromInt32(math.MaxInt32), nil, math.MaxInt32},
		"a number below zero, as it is": {intstr.FromInt32(-1), nil, -1}, // the window's parser refuses it
		"a little of a little":          {intstr.FromString("1%"), ptr.To[int32](1), 1},
		"none":                          {intstr.FromString("0%"), ptr.To[int32](100), 0},
		"all":                           {intstr.FromString("100%"), ptr.To[int32](7), 7},
		"half of an odd number":         {intstr.FromString("50%"), ptr.To[int32](7), 4},
		"the most of the most":          {intstr.FromString("1000%"), ptr.To[int32](100_000), 1_000_000},
	} {
		got, err := schedule.Count(tc.replicas, tc.baseline)
		if err != nil || got != tc.want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, tc.want)
		}
	}
}

func TestInvalidCounts(t *testing.T) {
	messages := golden.NewMessages(t)
	for _, text := range []string{"10", "", "%", "1001%", "-5%", "+5%", "1.5%", " 5%", "99999%", "50 %", "fifty %"} {
		got, err := schedule.Count(intstr.FromString(text), ptr.To[int32](4))
		if err == nil {
			t.Fatalf("%q: %d", text, got)
		}
		form, ok := strings.CutPrefix(err.Error(), strconv.Quote(text))
		if !ok {
			t.Errorf("%q: %v", text, err)
		}
		messages.Add("VALUE", "VALUE"+form) // the same for all
	}
	for _, baseline := range []*int32{nil, ptr.To[int32](0), ptr.To[int32](-4), ptr.To[int32](100_001), ptr.To[int32](math.MaxInt32)} {
		if got, err := schedule.Count(intstr.FromString("50%"), baseline); err == nil {
			t.Errorf("50%% of %d is %d", ptr.Deref(baseline, -1), got)
		}
		if got, err := schedule.Count(intstr.FromInt32(3), baseline); err != nil || got != 3 {
			t.Errorf("3 with a baseline of %d is %d, %v", ptr.Deref(baseline, -1), got, err)
		}
	}
}

// Percentages reach the calendar as numbers, and errors name the field.
func TestPercentagesInASpec(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.BaselineReplicas, s.DefaultReplicas = ptr.To[int32](6), intstr.FromString("25%")
		s.Windows[0].Replicas = intstr.FromString("150%")
	}), field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 || reading.Calendar.DefaultReplicas != 2 || reading.Calendar.Windows[0].Replicas() != 9 {
		t.Errorf("default %d, window %d, %v", reading.Calendar.DefaultReplicas, reading.Calendar.Windows[0].Replicas(), errs)
	}
	reading = schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.DefaultReplicas, s.Windows[0].Replicas = intstr.FromString("25%"), intstr.FromString("many")
	}), field.NewPath("spec"))
	messages := golden.NewMessages(t)
	var got []mistake
	for _, err := range reading.Errors() {
		got = append(got, mistakeOf(err))
		messages.Add(err.Field, err.Detail)
	}
	want := []mistake{
		{field.ErrorTypeInvalid, "spec.defaultReplicas", "25%"}, {field.ErrorTypeInvalid, "spec.windows[0].replicas", "many"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
