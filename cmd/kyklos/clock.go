//go:build !movableclock

package main

import "k8s.io/utils/clock"

// wallClock is the clock that everything but timers goes by.
var wallClock clock.PassiveClock = clock.RealClock{}
