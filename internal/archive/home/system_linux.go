package home

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changed is the inode's own time: unlike the modification time it cannot be set back.
func changed(info fs.FileInfo) time.Time {
	stat := info.Sys().(*syscall.Stat_t)
	return time.Unix(stat.Ctim.Unix())
}

// flush writes to disk all that the file system of folder holds in memory.
func flush(folder *os.File) error {
	return os.NewSyscallError("syncfs", unix.Syncfs(int(folder.Fd())))
}
