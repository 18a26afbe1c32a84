package timewindowscaler

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// T7: a step of more than 500 ms, sudden or gradual, wakes all scalers once, and slewing back and forth wakes none.
func TestClockWatch(t *testing.T) {
	type second struct{ wall, monotonic time.Duration } // how far each clock went between two ticks
	even := second{time.Second, time.Second}
	for name, tc := range map[string]struct {
		seconds []second
		want    []time.Duration
	}{
		"even":                   {[]second{even, even, even}, nil},
		"late ticks":             {[]second{{time.Minute, time.Minute}}, nil},
		"slewing":                {[]second{{time.Second + 400*time.Millisecond, time.Second}, {600 * time.Millisecond, time.Second}}, nil},
		"just what is allowed":   {[]second{{1500 * time.Millisecond, time.Second}, {500 * time.Millisecond, time.Second}}, nil},
		"by and by":              {[]second{{1300 * time.Millisecond, time.Second}, even, {1300 * time.Millisecond, time.Second}, even}, []time.Duration{600 * time.Millisecond}},
		"a hair more":            {[]second{{1500*time.Millisecond + 1, time.Second}}, []time.Duration{500*time.Millisecond + 1}},
		"an NTP step":            {[]second{even, {3 * time.Second, time.Second}, even, even}, []time.Duration{2 * time.Second}},
		"set back":               {[]second{even, {-time.Hour, time.Second}, even}, []time.Duration{-time.Hour - time.Second}},
		"a sleep of eight hours": {[]second{{8 * time.Hour, 10 * time.Millisecond}, even}, []time.Duration{8*time.Hour - 10*time.Millisecond}},
		"one step after another": {[]second{{time.Minute, time.Second}, {time.Minute, time.Second}}, []time.Duration{59 * time.Second, 59 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			wall, elapsed := clocktesting.NewFakePassiveClock(ist(inTheHours)), time.Duration(0)
			var steps []time.Duration
			ticks, read := make(chan time.Time), make(chan bool)
			watch := &clockWatch{
				wall:      wall,
				monotonic: func() time.Duration { read <- true; return elapsed },
				ticks:     ticks,
				stepped:   func(_ context.Context, step time.Duration) { steps = append(steps, step) },
				log:       logr.Discard(),
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- watch.Start(ctx) }()
			<-read // the second reading is compared with this
			for _, s := range tc.seconds {
				wall.SetTime(wall.Now().Add(s.wall)) // a check reads the wall clock first
				ticks <- time.Time{}                 // taken when the previous check is over
				elapsed += s.monotonic
				<-read
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, steps); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
