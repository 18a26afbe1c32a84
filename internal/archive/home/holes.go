package home

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// holes reads a file of a known size without reading its holes from disk. A file system without holes reports only data.
type holes struct {
	file *os.File
	size int64

	at, end int64 // the region that at is in ends before end
	hole    bool
}

func (h *holes) Read(into []byte) (int, error) {
	if h.at >= h.size {
		return 0, io.EOF
	}
	if h.at >= h.end {
		h.region()
	}
	if left := h.end - h.at; int64(len(into)) > left {
		into = into[:left]
	}
	n, err := len(into), error(nil)
	if h.hole {
		clear(into)
	} else {
		n, err = h.file.ReadAt(into, h.at)
	}
	h.at += int64(n)
	return n, err
}

// region finds out whether h.at is in a hole, and where the region ends.
func (h *holes) region() {
	fd := int(h.file.Fd())
	data, err := unix.Seek(fd, h.at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO: // no more data
		h.hole, h.end = true, h.size
	case err != nil:
		h.hole, h.end = false, h.size
	case data > h.at:
		h.hole, h.end = true, min(data, h.size)
	default:
		next, err := unix.Seek(fd, h.at, unix.SEEK_HOLE)
		if err != nil || next <= h.at {
			next = h.size
		}
		h.hole, h.end = false, min(next, h.size)
	}
}

// writeSparse copies content to a new file, with holes where a block is all zeros.
func writeSparse(file *os.File, content io.Reader, buffer []byte) error {
	var at, end int64
	for {
		n, err := io.ReadFull(content, buffer)
		written, failed := writeBlocks(file, buffer[:n], at)
		if failed != nil {
			return failed
		}
		end = max(end, written)
		at += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	return lengthen(file, end, at)
}

// writeBlocks writes blocks that are not zeros at offset at, and returns the end of the last one.
func writeBlocks(file *os.File, content []byte, at int64) (end int64, err error) {
	for start := 0; start < len(content); start += holeSize {
		block := content[start:min(start+holeSize, len(content))]
		if zeros(block) {
			continue
		}
		if _, err := file.WriteAt(block, at+int64(start)); err != nil {
			return end, err
		}
		end = at + int64(start+len(block))
	}
	return end, nil
}

// lengthen extends a file from end to size: it may end in a hole.
func lengthen(file *os.File, end, size int64) error {
	if end == size {
		return nil
	}
	return file.Truncate(size)
}

// holeSize is the minimum length of a hole.
const holeSize = 64 << 10

func zeros(block []byte) bool {
	for len(block) >= 8 {
		if block[0]|block[1]|block[2]|block[3]|block[4]|block[5]|block[6]|block[7] != 0 {
			return false
		}
		block = block[8:]
	}
	for _, b := range block {
		if b != 0 {
			return false
		}
	}
	return true
}
