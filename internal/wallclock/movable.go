//go:build movableclock

package wallclock

import (
	"os"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// clockFileVariable names a file with a duration that is added to the wall clock, such as -36h15m. The file is read on every
// call, so that tests of the whole process can step the clock.
const clockFileVariable = "KYKLOS_CLOCK_FILE"

// Clock is the real clock plus the offset in the file. It exists only in builds with the tag movableclock.
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
		return now // partially written; the next call reads all of it
	}
	return now.Add(offset)
}

func (c movableClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
