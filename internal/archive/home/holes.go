package home

import (
	"io"
	"iter"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// holeSize is the minimum length of a hole, and its alignment: the blocks of usual file systems.
	holeSize = 4 << 10
	// worthHoles is how much of a file must be holes for a map of them.
	worthHoles = 64 << 10
	// maxRegions bounds a map, so that every reader accepts it.
	maxRegions = 16 << 10
)

// region is a part of a file with data. Around it are holes.
type region struct{ start, end int64 }

func dataBytes(regions []region) (sum int64) {
	for _, r := range regions {
		sum += r.end - r.start
	}
	return sum
}

func isDense(regions []region, size int64) bool {
	return len(regions) == 1 && regions[0] == region{0, size}
}

// regionsIn returns where a file has data. A file system without holes reports only data. Of too many holes the smallest count as
// data: they are zeros in the stream, and holes again when it is unpacked.
func regionsIn(file *os.File, size int64) []region {
	dense := []region{{0, size}}
	if size <= small {
		return dense
	}
	var regions []region
	shortest := int64(holeSize)
	for at := int64(0); at < size; {
		next, end := nextData(int(file.Fd()), at, size)
		if next < end {
			regions = appendRegion(regions, region{next &^ (holeSize - 1), end + min(-end&(holeSize-1), size-end)}, shortest)
		}
		for len(regions) >= maxRegions {
			shortest *= 2
			regions = joined(regions, shortest)
		}
		at = end
	}
	if size-dataBytes(regions) < worthHoles {
		return dense
	}
	return regions
}

// nextData returns where the next data begin and end; both are size if there are none.
func nextData(fd int, at, size int64) (start, end int64) {
	start, err := unix.Seek(fd, at, unix.SEEK_DATA)
	if err == unix.ENXIO || err == nil && start >= size {
		return size, size
	}
	if err != nil || start < at {
		return at, size
	}
	end, err = unix.Seek(fd, start, unix.SEEK_HOLE)
	if err != nil || end <= start {
		end = size
	}
	return start, min(end, size)
}

func appendRegion(regions []region, next region, shortest int64) []region {
	if last := len(regions) - 1; last >= 0 && next.start-regions[last].end < shortest {
		regions[last].end = max(regions[last].end, next.end)
		return regions
	}
	return append(regions, next)
}

func joined(regions []region, shortest int64) []region {
	fewer := regions[:0]
	for _, r := range regions {
		fewer = appendRegion(fewer, r, shortest)
	}
	return fewer
}

// writeBlocks writes the blocks that are not zeros at offset at, and returns the end of the last one.
func writeBlocks(file io.WriterAt, content []byte, at int64) (end int64, err error) {
	for from, to := range runs(content) {
		if _, err := file.WriteAt(content[from:to], at+int64(from)); err != nil {
			return end, err
		}
		end = at + int64(to)
	}
	return end, nil
}

// runs are the parts of content between blocks of zeros.
func runs(content []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from := -1
		for at := 0; at < len(content); at += holeSize {
			empty := zeros(content[at:min(at+holeSize, len(content))])
			if !empty && from < 0 {
				from = at
			}
			if empty && from >= 0 {
				if !yield(from, at) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(from, len(content))
		}
	}
}

// lengthen extends a file from end to size: it may end in a hole.
func lengthen(file *os.File, end, size int64) error {
	if end == size {
		return nil
	}
	return file.Truncate(size)
}

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
