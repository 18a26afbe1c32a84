package home

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changed is the inode's change time: unlike the modification time it cannot be set.
func changed(info fs.FileInfo) time.Time {
	stat := info.Sys().(*syscall.Stat_t)
	return time.Unix(stat.Ctim.Unix())
}

// flush syncs the file system of folder.
func flush(folder *os.File) error {
	return os.NewSyscallError("syncfs", unix.Syncfs(int(folder.Fd())))
}
