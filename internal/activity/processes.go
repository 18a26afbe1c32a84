package activity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// tick is the unit of times in /proc: on Linux it is the same everywhere.
const tick = time.Second / 100

// CPU returns what all processes in proc, a /proc, have used, with their children that have ended. The process self does not
// count.
func CPU(proc fs.FS, self int) (used time.Duration, err error) {
	entries, err := fs.ReadDir(proc, ".")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == self {
			continue
		}
		stat, err := fs.ReadFile(proc, entry.Name()+"/stat")
		if err != nil { // it has ended
			continue
		}
		ticks, err := ticksOf(stat)
		if err != nil {
			return 0, fmt.Errorf("%d/stat: %w", pid, err)
		}
		used += time.Duration(ticks) * tick
	}
	return used, nil
}

// ticksOf sums utime, stime, cutime and cstime, the fields 14 to 17. The second is a name in brackets with anything in it.
func ticksOf(stat []byte) (ticks int64, err error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, errors.New("it is too short")
	}
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return ticks, nil
}
