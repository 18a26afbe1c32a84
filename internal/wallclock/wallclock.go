//go:build !movableclock

// Package wallclock holds the clock of this process.
package wallclock

import "k8s.io/utils/clock"

// Clock is the clock that everything but timers goes by.
var Clock clock.PassiveClock = clock.RealClock{}
