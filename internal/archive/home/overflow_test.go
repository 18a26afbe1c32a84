package home

import (
	"archive/tar"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lengths of files that are nothing but holes add up to more than a number holds. The home is refused when it is archived, and says so.
func TestLengthsThatDoNotAddUp(t *testing.T) {
	folder := hugeFiles(t)
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(folder, name), math.MaxInt64); err != nil {
			t.Skip("the file system has no files of this length: ", err)
		}
	}
	_, err := Survey(t.Context(), open(t, folder))
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("got %v", err)
	}
	if done, err := Measure(t.Context(), open(t, folder)); err != nil || done.Bytes != math.MaxInt64 {
		t.Errorf("measured %+v, %v", done, err)
	}
}

// A file may be nearly as long as a number allows, with data at its end.
func TestTheLongestFile(t *testing.T) {
	folder := hugeFiles(t)
	file, err := os.Create(filepath.Join(folder, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	const at = math.MaxInt64 - holeSize
	if _, err := file.WriteAt([]byte("end"), at); err != nil {
		t.Skip("the file system has no files of this length: ", err)
	}
	var stream bytes.Buffer
	packed, err := Pack(t.Context(), open(t, folder), &stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	inspected, err := Inspect(t.Context(), &stream, Limits{Entries: packed.Entries, Bytes: packed.Bytes}, nil)
	if err != nil || inspected.Tree != packed.Tree || packed.Bytes != at+3 || packed.Allocated != 3*holeSize {
		t.Errorf("%+v, %+v, %v", packed, inspected, err)
	}
}

// A stream whose lengths add up to more than a number holds does not get below its limit again.
func TestForgedLengthsDoNotAddUp(t *testing.T) {
	s := &scanner{ctx: t.Context(), limits: Limits{Entries: 9, Bytes: math.MaxInt64}, digest: newDigester(), last: "."}
	s.summary.Bytes = math.MaxInt64 - 1
	header := &tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 2}
	err := s.entry(header, []region{{0, 2}}, bytes.NewReader(nil), func(*tar.Header, *body) error { return nil })
	if !errors.Is(err, ErrUnsafe) {
		t.Errorf("got %v", err)
	}
}

// hugeFiles is a folder on a file system without a limit for the length of a file, if there is one.
func hugeFiles(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "kyklos-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
