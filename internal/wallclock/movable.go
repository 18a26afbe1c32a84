//go:build movableclock

package wallclock

import (
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// clockFileVariable names a file with a duration that is added to the wall clock, such as -36h15m. It is replaced, never
// rewritten, and looked at on every call, so that tests of the whole process can step the clock.
const clockFileVariable = "KYKLOS_CLOCK_FILE"

// Clock is the real clock plus the offset in the file. It exists only in builds with the tag movableclock.
var Clock clock.PassiveClock = &movableClock{}

type movableClock struct {
	mu     sync.Mutex
	read   os.FileInfo // the file that has the offset
	offset time.Duration
}

// Now implements clock.PassiveClock.
func (c *movableClock) Now() time.Time {
	now, path := time.Now().Round(0), os.Getenv(clockFileVariable)
	info, err := os.Stat(path)
	if err != nil {
		return now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil || !os.SameFile(c.read, info) || !c.read.ModTime().Equal(info.ModTime()) || c.read.Size() != info.Size() {
		content, err := os.ReadFile(path)
		if err != nil {
			return now
		}
		offset, err := time.ParseDuration(strings.TrimSpace(string(content)))
		if err != nil {
			return now
		}
		c.read, c.offset = info, offset
	}
	return now.Add(c.offset)
}

// Since implements clock.PassiveClock.
func (c *movableClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
