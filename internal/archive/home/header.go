package home

import (
	"archive/tar"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// header returns an entry's tar header without type, size and target. file is open for reading and provides the extended
// attributes; nil has none.
func (p *packer) header(name string, info fs.FileInfo, file *os.File) (*tar.Header, error) {
	stat := info.Sys().(*syscall.Stat_t)
	header := &tar.Header{
		Format:  tar.FormatPAX,
		Name:    name,
		Mode:    tarMode(info.Mode()),
		Uid:     int(stat.Uid),
		Gid:     int(stat.Gid),
		ModTime: info.ModTime(),
	}
	if file == nil {
		return header, nil
	}
	attributes, others, err := xattrs(file)
	if err != nil {
		return nil, p.at(name, err)
	}
	for _, key := range others {
		p.left.out(name, "attribute "+key)
	}
	for key, value := range attributes {
		if header.PAXRecords == nil {
			header.PAXRecords = map[string]string{}
		}
		header.PAXRecords[xattrPrefix+key] = value
	}
	return header, nil
}

func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= modeSetuid
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= modeSetgid
	}
	if mode&fs.ModeSticky != 0 {
		bits |= modeSticky
	}
	return bits
}

func fileMode(bits int64) fs.FileMode {
	mode := fs.FileMode(bits).Perm()
	if bits&modeSetuid != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&modeSetgid != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&modeSticky != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "unknown"
}

// xattrs returns the attributes that are kept, and the names of those that are not; none if the file system has no support.
func xattrs(file *os.File) (kept map[string]string, others []string, err error) {
	fd := int(file.Fd())
	list, err := grow(func(into []byte) (int, error) { return unix.Flistxattr(fd, into) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, os.NewSyscallError("flistxattr", err)
	}
	kept = map[string]string{}
	for name := range strings.SplitSeq(string(list), "\x00") {
		if name == "" || ownedByNode(name) {
			continue
		}
		if !keepsAttribute(name) || strings.Contains(name, "=") { // tar cannot store a = in a name
			others = append(others, name)
			continue
		}
		value, err := grow(func(into []byte) (int, error) { return unix.Fgetxattr(fd, name, into) })
		if err != nil {
			return nil, nil, os.NewSyscallError("fgetxattr "+name, err)
		}
		kept[name] = string(value)
	}
	return kept, others, nil
}

// grow gets the size, then the value. It fails with ERANGE if the value grew in between.
func grow(get func([]byte) (int, error)) ([]byte, error) {
	size, err := get(nil)
	if err != nil || size == 0 {
		return nil, err
	}
	value := make([]byte, size)
	size, err = get(value)
	if err != nil {
		return nil, err
	}
	return value[:size], nil
}
