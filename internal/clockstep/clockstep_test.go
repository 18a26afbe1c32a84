package clockstep_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/clockstep"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestStep(t *testing.T) {
	for name, tc := range map[string]struct {
		wall, monotonic []time.Duration // how far each clock moves between two readings
		want            []time.Duration
	}{
		"even":         {[]time.Duration{time.Hour, time.Second}, []time.Duration{time.Hour, time.Second}, []time.Duration{0, 0}},
		"at the limit": {[]time.Duration{2 * time.Second, 0}, []time.Duration{time.Second, time.Second}, []time.Duration{0, 0}},
		"gradually":    {[]time.Duration{2 * time.Second, 1}, []time.Duration{time.Second, 0}, []time.Duration{0, time.Second + 1}},
		"set back":     {[]time.Duration{-time.Hour, 0}, []time.Duration{0, 0}, []time.Duration{-time.Hour, 0}},
		"slept":        {[]time.Duration{time.Hour, time.Hour}, []time.Duration{0, 0}, []time.Duration{time.Hour, time.Hour}},
	} {
		d := clockstep.Detector{Tolerance: time.Second}
		wall, monotonic := noon, 7*time.Minute
		if step := d.Step(wall, monotonic); step != 0 {
			t.Errorf("%s: the first reading: %s", name, step)
		}
		for i := range tc.want {
			wall, monotonic = wall.Add(tc.wall[i]), monotonic+tc.monotonic[i]
			if step := d.Step(wall, monotonic); step != tc.want[i] {
				t.Errorf("%s, reading %d: %s, want %s", name, i, step, tc.want[i])
			}
		}
	}
}

func TestFutureTime(t *testing.T) {
	var f clockstep.FutureTime
	ahead := noon.Add(time.Hour)
	for i, tc := range []struct{ t, now, want time.Time }{
		{noon, noon, noon},
		{ahead, noon, noon},                     // detected now
		{ahead, noon.Add(time.Minute), noon},    // still counts from the detection
		{ahead, noon.Add(-1), noon.Add(-1)},     // the clock was set back
		{ahead.Add(1), noon, noon},              // another time
		{ahead, ahead, ahead},                   // no longer in the future
		{ahead, noon, noon}, {noon, noon, noon}, // and again
	} {
		if got := f.AtMost(tc.t, tc.now); !got.Equal(tc.want) {
			t.Errorf("%d: %v, want %v", i, got, tc.want)
		}
	}
	if got := clockstep.Earlier(ahead, noon); got != noon || clockstep.Earlier(noon, ahead) != noon {
		t.Errorf("the earlier is %v", got)
	}
}
