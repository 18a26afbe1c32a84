// Package home turns a home directory into one compressed stream and back, and says by a digest
// whether two homes are the same. Nothing is left out without being told: what cannot be
// read makes the whole fail.
//
// The stream is a plain tar.gz, so a home can be got back without Kyklos too. It is
// deterministic: names are sorted, and nothing depends on when or how often it was made. Kept are
// contents, folders, modes, times to the nanosecond, owners, symbolic and hard links, and the
// extended attributes in user.*. Left out, and told, are sockets, pipes and devices: a home's programs make
// them anew. Holes are not read from disk, cost next to nothing in the stream and are
// holes again afterwards.
package home

import (
	"errors"
	"io"
	"runtime"

	"github.com/klauspost/pgzip"
)

// What the caller tells apart. Errors of the file system come wrapped as they are.
var (
	// ErrChanged: somebody wrote to the home while it was read.
	ErrChanged = errors.New("the home changed while it was read")
	// ErrUnsafe: an entry that this package would not have written, such as ../x or a device.
	ErrUnsafe = errors.New("the archive holds what no home can")
)

// Progress is how far a run has come.
type Progress struct{ Entries, Bytes int64 }

// Summary is what a run found.
type Summary struct {
	// Tree is the digest of everything that is kept: 64 hexadecimal digits.
	Tree string
	// Entries counts files, folders (the home itself too) and links, Bytes the files' lengths.
	Entries, Bytes int64
	// LeftOut names what was not kept, at most 10 of the LeftOutCount.
	LeftOut      []string
	LeftOutCount int64
}

const namedOut = 10

func (s *Summary) leaveOut(what string) {
	s.LeftOutCount++
	if len(s.LeftOut) < namedOut {
		s.LeftOut = append(s.LeftOut, what)
	}
}

// Blocks are compressed beside one another. The stream does not depend on how many at once.
const blockSize = 1 << 20

// At level 3 this library's streams are about as long as those of gzip -6: see BenchmarkBesideTarGzip.
const level = 3

func compress(w io.Writer) (*pgzip.Writer, error) {
	zip, err := pgzip.NewWriterLevel(w, level)
	if err != nil {
		return nil, err
	}
	return zip, zip.SetConcurrency(blockSize, runtime.GOMAXPROCS(0)+1)
}
