package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crowd is a home of many small files, each in its own folder.
func crowd(t *testing.T, files int) string {
	t.Helper()
	names := map[string]string{}
	for i := range files {
		names[fmt.Sprintf("%03d/file", i)] = strings.Repeat("x", i)
	}
	return write(t, t.TempDir(), names)
}

// A hard link finds its file, even if that was still being written when the link was read.
func TestHardLinksWaitForTheirFiles(t *testing.T) {
	const files = 200
	folder := crowd(t, files)
	for i := range files {
		file := filepath.Join(folder, fmt.Sprintf("%03d/file", i))
		if err := os.Link(file, file+"-link"); err != nil {
			t.Fatal(err)
		}
	}
	stream, _ := packed(t, folder)
	back := unpacked(t, stream)
	for i := range files {
		file := filepath.Join(back, fmt.Sprintf("%03d/file", i))
		one, err := os.Stat(file)
		two, err2 := os.Stat(file + "-link")
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(one, two) || one.Size() != int64(i) {
			t.Errorf("%s: %d bytes, and the link is another file: %t", file, one.Size(), !os.SameFile(one, two))
		}
	}
}

// After Unpack has failed, no worker writes any more: its caller deletes the files.
func TestNoWorkerWritesAfterAnError(t *testing.T) {
	stream, _ := packed(t, crowd(t, 300))
	for cut := range 8 {
		to := t.TempDir()
		if _, err := Unpack(t.Context(), open(t, to), bytes.NewReader(stream[:len(stream)*(cut+1)/10]), everything, nil); err == nil {
			t.Fatal("half a stream was unpacked")
		}
		before := snapshot(t, to)
		if diff := cmp.Diff(before, snapshot(t, to)); diff != "" {
			t.Fatalf("something was written afterwards (-before +after):\n%s", diff)
		}
	}
}

// The error is that of the file that failed, whatever was read meanwhile, and it ends the run.
func TestAFileThatFailsIsNamed(t *testing.T) {
	const files = 300
	stream, _ := packed(t, crowd(t, files))
	to := write(t, t.TempDir(), map[string]string{"in the way": ""})
	root := open(t, to)
	made := 0
	_, err := Unpack(t.Context(), root, bytes.NewReader(stream), everything, func(Progress) {
		// The home and the first folder: its file comes next.
		if made++; made == 2 {
			if err := os.Link(filepath.Join(to, "in the way"), filepath.Join(to, "000", "file")); err != nil {
				t.Error(err)
			}
		}
	})
	if !errors.Is(err, fs.ErrExist) || !strings.HasPrefix(fmt.Sprint(err), `"000/file": `) {
		t.Errorf("got %v, want that 000/file exists", err)
	}
	if made == 1+2*files {
		t.Error("it went on to the end")
	}
}

// What is left out is listed in the order of the stream, no matter which worker is first.
func TestLeftOutIsInOrder(t *testing.T) {
	const all = 30
	var left leftOut
	for _, i := range rand.Perm(all) {
		left.out(fmt.Sprintf("%02d", i), "owner")
	}
	left.out("00", "attribute")
	var summary Summary
	left.put(&summary)
	names, count := summary.LeftOut, summary.LeftOutCount
	want := []string{`"00": owner`, `"00": attribute`}
	for i := 1; len(want) < namedOut; i++ {
		want = append(want, fmt.Sprintf(`"%02d": owner`, i))
	}
	if diff := cmp.Diff(want, names); diff != "" || count != all+1 || summary.LeftOutKinds["owner"] != all || summary.LeftOutKinds["attribute"] != 1 {
		t.Errorf("%d in all, -want +got:\n%s", count, diff)
	}
}
