package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/pgzip"
)

// Limits bound what a stream may unpack to, against decompression bombs. They are from the archive's marker.
type Limits struct{ Entries, Bytes int64 }

// Inspect reads a stream to its end with all checks of Unpack, but writes nothing. An error means that the stream is not
// a complete archive, or that r failed.
func Inspect(ctx context.Context, r io.Reader, limits Limits, report func(Progress)) (Summary, error) {
	buffer := make([]byte, 1<<20)
	return scan(ctx, r, limits, report, func(_ *tar.Header, content *body) error {
		return content.copy(buffer, func([]byte, int64) error { return nil })
	})
}

// visit processes one checked entry, and reads its content to the end.
type visit func(header *tar.Header, content *body) error

func scan(ctx context.Context, r io.Reader, limits Limits, report func(Progress), visit visit) (Summary, error) {
	zip, err := pgzip.NewReader(r)
	if err != nil {
		return Summary{}, err
	}
	defer func() { _ = zip.Close() }()
	s := &scanner{ctx: ctx, limits: limits, report: report, digest: newDigester()}
	tarred := &entries{stream: zip}
	for {
		header, regions, content, err := tarred.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Summary{}, err
		}
		if err := s.entry(header, regions, content, visit); err != nil {
			return Summary{}, fmt.Errorf("%q: %w", header.Name, err)
		}
	}
	if s.last == "" {
		return Summary{}, unsafe("it is empty: the home itself is missing")
	}
	s.summary.Tree = s.digest.sum()
	s.summary.Allocated += s.digest.content.allocated
	return s.summary, drain(zip)
}

// drain reads to the end of the stream, so that gzip's checksum is verified. Only padding may follow the tar.
func drain(r io.Reader) error {
	const padding = 1 << 20
	n, err := io.Copy(io.Discard, io.LimitReader(r, padding+1))
	if err == nil && n > padding {
		err = unsafe("unexpected data after its end")
	}
	return err
}

type scanner struct {
	ctx     context.Context
	limits  Limits
	report  func(Progress)
	digest  *digester
	summary Summary

	last    string   // the last entry's name; "." is the first
	folders []string // the folder of the last entry and its parents, without "."
}

func (s *scanner) entry(header *tar.Header, regions []region, data io.Reader, visit visit) error {
	if err := s.check(header); err != nil {
		return err
	}
	if s.digest.content.flat && !isDense(regions, header.Size) {
		return unsafe("it has holes, which archives of its format do not have")
	}
	progress := Progress{s.summary.Entries, s.summary.Bytes}
	s.summary.Entries++
	if s.summary.Entries > s.limits.Entries || header.Size > s.limits.Bytes-s.summary.Bytes {
		return unsafe("it holds more than the %d entries and %d bytes of its marker", s.limits.Entries, s.limits.Bytes)
	}
	s.summary.Bytes += header.Size
	read := func(n int64) {
		progress.Bytes += n
		if n > 0 && s.report != nil {
			s.report(progress)
		}
	}
	content := &body{
		data: &contentReader{ctx: s.ctx, Reader: data, read: read}, regions: regions, size: header.Size,
		content: s.digest.content, skipped: read,
	}
	if err := visit(header, content); err != nil {
		return err
	}
	s.digest.add(header)
	if header.Typeflag == tar.TypeDir {
		s.summary.Allocated += holeSize
	}
	if s.report != nil {
		s.report(Progress{s.summary.Entries, s.summary.Bytes})
	}
	return s.ctx.Err()
}

// check refuses anything that Pack does not write. Names are in ascending order, so none is repeated; each one's folder
// must be an open folder, so none follows a link.
func (s *scanner) check(header *tar.Header) error {
	name := strings.TrimSuffix(header.Name, "/")
	folder := header.Typeflag == tar.TypeDir
	if err := checkType(header, folder); err != nil {
		return err
	}
	if s.last == "" {
		if name != "." || !folder {
			return unsafe("the first entry must be the home itself, ./")
		}
		s.last = name
		return s.setFormat(header)
	}
	if !local(name) {
		return unsafe("the name must be a path inside the home")
	}
	if s.last != "." && compareNames(s.last, name) >= 0 {
		return unsafe("it comes after %q, out of order", s.last)
	}
	if !s.enter(name) {
		return unsafe("its folder is not in the archive")
	}
	if folder {
		s.folders = append(s.folders, name)
	}
	if header.Typeflag == tar.TypeLink && (!local(header.Linkname) || compareNames(header.Linkname, name) >= 0) {
		return unsafe("it links to %q, which must be a file before it", header.Linkname)
	}
	s.last = name
	return nil
}

// enter leaves the folders that do not contain name, and reports whether the remaining one is its parent.
func (s *scanner) enter(name string) bool {
	parent := "."
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		parent = name[:slash]
	}
	for len(s.folders) > 0 && s.folders[len(s.folders)-1] != parent {
		s.folders = s.folders[:len(s.folders)-1]
	}
	return parent == "." || len(s.folders) > 0
}

func checkType(header *tar.Header, folder bool) error {
	if folder != strings.HasSuffix(header.Name, "/") {
		return unsafe("only a folder's name ends with a slash")
	}
	switch header.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
		if header.Size != 0 {
			return unsafe("it has %d bytes, but is not a file", header.Size)
		}
	default:
		return unsafe("it is of type %q: only files, folders and links are kept", header.Typeflag)
	}
	if header.Size < 0 || header.Mode&^0o7777 != 0 {
		return unsafe("its size (%d) or mode (%o) is invalid", header.Size, header.Mode)
	}
	return nil
}

// local reports whether name is a clean relative path that stays inside its folder.
func local(name string) bool {
	if name == "" || strings.ContainsRune(name, 0) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsafe}, args...)...)
}
