//go:build !linux

package home

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func changed(info fs.FileInfo) time.Time { return info.ModTime() }

func flush(*os.File) error { return unix.Sync() }
