package mover

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// checkRoom refuses a home that its own volume could not hold after a restore (W64): a file system that compresses, or shares
// blocks between files, can hold more than fits when every file has blocks of its own.
func (j Job) checkRoom(need int64) error {
	measure := j.capacity
	if measure == nil {
		measure = capacityOf
	}
	capacity, err := measure(j.Volume)
	if err != nil {
		return err
	}
	return fits(need, capacity)
}

// fits decides. A capacity of 0 is unknown: some network file systems have none.
func fits(need, capacity int64) error {
	if capacity <= 0 || need <= capacity {
		return nil
	}
	return fmt.Errorf("%w: it needs %d MiB, and the volume has %d MiB; nothing was deleted", errNoRoom, (need+1<<20-1)>>20, capacity>>20)
}

// capacityOf is what a user may store on a volume, whether it is in use or not.
func capacityOf(volume string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(volume, &stat); err != nil {
		return 0, os.NewSyscallError("statfs", err)
	}
	reserved := stat.Bfree - min(uint64(stat.Bavail), stat.Bfree) //nolint:unconvert // Bavail is signed elsewhere
	return int64(stat.Blocks-reserved) * int64(stat.Bsize), nil   //nolint:unconvert // Bsize is a uint32 elsewhere
}
