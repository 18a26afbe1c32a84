package manager

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much the heap grows until the next garbage collection, in percent of what is in use. Go's own 100 keeps
// twice the memory of the caches. docs/adr/0030-memory-at-rest.md has measurements.
const garbagePercent = 50

// limitGarbage leaves the choice to the environment variable GOGC, if it is set.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
