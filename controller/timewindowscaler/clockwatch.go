package timewindowscaler

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/internal/clockstep"
)

// maxClockDrift is how far wall clock and monotonic clock may part before all timers count as wrong
// (T7), sudden or gradual.
const maxClockDrift = 500 * time.Millisecond

// clockWatch notices that the wall clock was stepped or that the machine slept. Timers count
// monotonic time, so either would make every wake-up wrong by as much.
type clockWatch struct {
	wall clock.PassiveClock
	// monotonic is the time since some start, untouched by steps of the wall clock.
	monotonic func() time.Duration
	// ticks is a ticker's channel, one tick a second.
	ticks <-chan time.Time
	// stepped is called with the size of the step, negative for a clock that was set back.
	stepped func(context.Context, time.Duration)
	log     logr.Logger
}

// Start compares the clocks at every tick until ctx ends.
func (w *clockWatch) Start(ctx context.Context) error {
	detector := clockstep.Detector{Tolerance: maxClockDrift}
	detector.Step(w.wall.Now(), w.monotonic())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.ticks:
		}
		if step := detector.Step(w.wall.Now(), w.monotonic()); step != 0 {
			w.log.Info("The clock was stepped or the machine slept; reconciling every scaler", "step", step.String())
			w.stepped(ctx, step)
		}
	}
}
