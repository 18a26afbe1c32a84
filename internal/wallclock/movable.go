//go:build movableclock

package wallclock

import (
	"os"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// clockFileVariable names a file that holds a duration by which the wall clock is off, such as
// -36h15m. The file is read at every look at the clock, so tests of the whole process can step it.
const clockFileVariable = "KYKLOS_CLOCK_FILE"

// Clock is the real clock moved by what the file says. Builds without the tag movableclock have
// no such thing.
var Clock clock.PassiveClock = movableClock{}

type movableClock struct{}

func (movableClock) Now() time.Time {
	now := time.Now().Round(0)
	content, err := os.ReadFile(os.Getenv(clockFileVariable))
	if err != nil {
		return now
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(content)))
	if err != nil {
		return now // half written; the next look sees it all
	}
	return now.Add(offset)
}

func (c movableClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
