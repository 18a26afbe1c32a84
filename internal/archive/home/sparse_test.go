package home

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// holed creates a file of a size with blocks of data at the offsets.
func holed(t testing.TB, path string, size int64, at ...int64) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := file.Truncate(size); errors.Is(err, syscall.EFBIG) {
		t.Skipf("the file system of %s has no files of %d bytes", path, size)
	} else if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte("data"), holeSize/4)
	for _, offset := range at {
		if _, err := file.WriteAt(block[:min(holeSize, size-offset)], offset); err != nil {
			t.Fatal(err)
		}
	}
}

// A restored file takes no more than it did: one with 4 KiB of data in each 64 KiB grew to 16 times its size.
func TestAFileOfHolesDoesNotGrow(t *testing.T) {
	folder := t.TempDir()
	var offsets []int64
	for at := int64(0); at < 64<<20; at += 64 << 10 {
		offsets = append(offsets, at)
	}
	path := filepath.Join(folder, "database")
	holed(t, path, 64<<20, offsets...)
	stream, summary := packed(t, folder)
	back := unpacked(t, stream)
	before, after := blocks(t, path), blocks(t, filepath.Join(back, "database"))
	if after > before+holeSize || summary.Allocated > before+2*holeSize {
		t.Errorf("%d bytes on disk became %d, %d are announced", before, after, summary.Allocated)
	}
	if diff := cmp.Diff(snapshot(t, folder), snapshot(t, back)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// Holes cost nothing in either direction: reading a TiB of zeros would take minutes.
func TestATebibyteOfHoles(t *testing.T) {
	folder := t.TempDir()
	const size = 1<<40 - 100
	for name, offsets := range map[string][]int64{"empty": nil, "start": {0}, "middle": {1 << 39}, "end": {1<<40 - holeSize}} {
		holed(t, filepath.Join(folder, name), size, offsets...)
	}
	stream, summary := packed(t, folder)
	if summary.Bytes != 4*size || len(stream) > 1<<20 {
		t.Errorf("%d bytes became %d", summary.Bytes, len(stream))
	}
	back := unpacked(t, stream)
	again, err := Survey(t.Context(), open(t, back))
	if diff := cmp.Diff(summary, again); err != nil || diff != "" {
		t.Errorf("%v, -before +after:\n%s", err, diff)
	}
	for _, name := range []string{"empty", "start", "middle", "end"} {
		info, err := os.Stat(filepath.Join(back, name))
		if err != nil || info.Size() != size || blocks(t, filepath.Join(back, name)) > 16<<10 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// The stream can be read without Kyklos: by GNU tar, and by Go.
func TestFilesWithHolesAreReadByOthers(t *testing.T) {
	folder := t.TempDir()
	deep := filepath.Join(folder, "a folder with a name that is longer than a header has room for, which takes a hundred bytes", "sub")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	holed(t, filepath.Join(deep, "one"), 1<<20, 0, 300<<10, 1<<20-holeSize)
	holed(t, filepath.Join(folder, "GNU.sparse.name=x"), 1<<20+77, 500<<10)
	holed(t, filepath.Join(folder, "none"), 64<<20)
	if err := os.Link(filepath.Join(deep, "one"), filepath.Join(deep, "two")); err != nil {
		t.Fatal(err)
	}
	stream, _ := packed(t, folder)
	before := snapshot(t, folder)
	t.Run("Go", func(t *testing.T) {
		for name, sum := range readByGo(t, stream) {
			content, err := os.ReadFile(filepath.Join(folder, name))
			if want := fmt.Sprintf("%d %x", len(content), sha256.Sum256(content)); err != nil || sum != want {
				t.Errorf("%q: %s, %v, want %s", name, sum, err, want)
			}
		}
	})
	t.Run("tar", func(t *testing.T) {
		if text, err := exec.CommandContext(t.Context(), "tar", "--version").Output(); err != nil || !bytes.Contains(text, []byte("GNU tar")) {
			t.Skip("there is no GNU tar on this machine")
		}
		to := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "tar", "-xzpf", "-", "-C", to)
		cmd.Stdin = bytes.NewReader(stream)
		if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(before, snapshot(t, to)); diff != "" {
			t.Errorf("-before +after:\n%s", diff)
		}
		if taken := blocks(t, filepath.Join(to, "none")); taken > 64<<10 {
			t.Errorf("the hole takes %d bytes", taken)
		}
	})
}

// readByGo returns lengths and sums of the files in a stream, read with Go's package.
func readByGo(t *testing.T, stream []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zip); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		n, err := io.Copy(sum, r)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = fmt.Sprintf("%d %x", n, sum.Sum(nil))
		}
	}
}

// Files of any blocks, zeros and holes come back, with the same digest and no more on disk.
func TestRandomHoles(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "home")
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.Int64Range(0, 400).Draw(r, "blocks")*holeSize + rapid.SampledFrom([]int64{0, 0, 1, 511, 4095}).Draw(r, "rest")
		var at []int64
		for range rapid.IntRange(0, 9).Draw(r, "written") {
			if size > 0 {
				at = append(at, rapid.Int64Range(0, size-1).Draw(r, "at"))
			}
		}
		holed(t, filepath.Join(folder, "file"), size, at...)
		stream, summary := packed(t, folder)
		back := unpacked(t, stream)
		if diff := cmp.Diff(snapshot(t, folder), snapshot(t, back)); diff != "" {
			r.Fatalf("-before +after:\n%s", diff)
		}
		// The same content without holes has the same digest.
		content, err := os.ReadFile(filepath.Join(back, "file"))
		info, err2 := os.Stat(filepath.Join(folder, "file"))
		if err := errors.Join(err, err2, os.WriteFile(filepath.Join(folder, "file"), content, 0o644), os.Chtimes(filepath.Join(folder, "file"), info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
		if dense, err := Survey(t.Context(), open(t, folder)); err != nil || !cmp.Equal(dense, summary) {
			r.Fatalf("%v: %+v with holes, %+v without", err, summary, dense)
		}
	})
}

// The map stays short enough for Go's reader, whatever the file.
func TestAMapIsBounded(t *testing.T) {
	var regions []region
	noise := rand.New(rand.NewPCG(1, 2))
	shortest, written := int64(holeSize), []region{}
	for at := int64(0); len(written) < 100_000; {
		at += (1 + noise.Int64N(99)) * holeSize
		next := region{at, at + (1+noise.Int64N(9))*holeSize}
		written, at = append(written, next), next.end
		regions = appendRegion(regions, next, shortest)
		for len(regions) >= maxRegions {
			shortest *= 2
			regions = joined(regions, shortest)
		}
	}
	size := int64(1 << 50)
	text := sparseMap(regions, size)
	read, n, err := readMap(bytes.NewReader(text), size)
	if err != nil || n != int64(len(text)) || n > maxRecords || !slices.Equal(read, append(regions, region{size, size})) {
		t.Fatalf("%v: a map of %d bytes, %d read", err, len(text), n)
	}
	for _, want := range written {
		if !slices.ContainsFunc(regions, func(r region) bool { return r.start <= want.start && want.end <= r.end }) {
			t.Fatalf("%+v is in no region", want)
		}
	}
}

// An archive of the first format, which had zeros instead of holes, and another digest.
func TestArchivesOfTheFirstFormatComeBack(t *testing.T) {
	stream, err := os.ReadFile("testdata/format1.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	summary, err := Unpack(t.Context(), open(t, folder), bytes.NewReader(stream), everything, nil)
	if want := "810205192cb0854b0a9dafe565e80e3514de192b5c0167bd311159c7f0996654"; err != nil || summary.Tree != want {
		t.Errorf("%v: the digest is %s, want %s", err, summary.Tree, want)
	}
	content, err := os.ReadFile(filepath.Join(folder, "sub/holes"))
	if err != nil || len(content) != 300<<10 || string(content[200<<10:200<<10+4]) != "data" || blocks(t, filepath.Join(folder, "sub/holes")) > 16<<10 {
		t.Errorf("%v: %d bytes", err, len(content))
	}
}
