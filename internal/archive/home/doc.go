// Package home converts a home directory to one compressed stream and back, and compares homes by a digest. Everything
// that is left out is reported; anything that cannot be read is an error.
//
// The stream is a plain tar.gz, so a home can be restored without Kyklos. It is deterministic: names are sorted, and
// nothing depends on when or how often it was made, except which zeros are holes. It keeps contents, folders, modes, times
// to the nanosecond, owners, symbolic and hard links, ACLs, file capabilities and the extended attributes in user.* (W65). It
// leaves out sockets, pipes and devices: programs create them again. Holes are neither read nor stored: a file with holes is
// stored as GNU tar does. Every block of zeros is restored as a hole.
package home

import (
	"errors"
	"io"
	"runtime"

	"github.com/klauspost/pgzip"
)

// Errors that callers distinguish. Errors of the file system are returned wrapped.
var (
	// ErrChanged: the home was written to while it was read.
	ErrChanged  = errors.New("the home changed while it was read")
	errTooLarge = errors.New("the lengths of all files add up to more than 8 EiB")
	// ErrUnsafe: an entry that this package does not write, such as ../x or a device.
	ErrUnsafe = errors.New("the archive holds an unsafe entry")
)

// Progress is the progress of a run.
type Progress struct{ Entries, Bytes int64 }

// Summary is the result of a run.
type Summary struct {
	// Tree is the digest of everything that is kept: 64 hexadecimal digits.
	Tree string
	// Entries counts files, folders (the home itself too) and links, Bytes the files' lengths.
	Entries, Bytes int64
	// Allocated is what files and folders need on disk when they are unpacked; 0 for archives of the first format.
	Allocated int64
	// LeftOut names what was not kept, at most 10 of the LeftOutCount. LeftOutKinds counts it by its kind, such as socket.
	LeftOut      []string
	LeftOutCount int64
	LeftOutKinds map[string]int64
}

// Blocks are compressed concurrently. The stream does not depend on how many at a time.
const blockSize = 1 << 20

// At level 3 this library's streams are about as long as those of gzip -6; see BenchmarkAgainstTarGzip.
const level = 3

func compress(w io.Writer) (*pgzip.Writer, error) {
	zip, err := pgzip.NewWriterLevel(w, level)
	if err != nil {
		return nil, err
	}
	return zip, zip.SetConcurrency(blockSize, runtime.GOMAXPROCS(0)+1)
}
