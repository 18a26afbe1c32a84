//go:build !movableclock

// Package wallclock holds the clock of this process.
package wallclock

import "k8s.io/utils/clock"

// Clock is used by everything except timers.
var Clock clock.PassiveClock = clock.RealClock{}
