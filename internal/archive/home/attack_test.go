package home

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forged is a stream of any entries, not written by the package.
func forged(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var stream bytes.Buffer
	zip := gzip.NewWriter(&stream)
	w := tar.NewWriter(zip)
	for _, header := range headers {
		if header.Mode == 0 {
			header.Mode = 0o755
		}
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, header.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

var top = tar.Header{Typeflag: tar.TypeDir, Name: "./"}

func TestForgedArchivesAreRefused(t *testing.T) {
	folder := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeDir, Name: name} }
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 3} }
	symlink := func(name, target string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}
	}
	link := func(name, target string) tar.Header {
		return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: target}
	}
	for name, entries := range map[string][]tar.Header{
		"nothing":                      {},
		"no home":                      {file("a")},
		"home is a file":               {{Typeflag: tar.TypeReg, Name: "."}},
		"home is a link":               {symlink("./", "/")},
		"home twice":                   {top, top},
		"parent":                       {top, file("../outside")},
		"parent inside":                {top, folder("a/"), file("a/../../outside")},
		"absolute":                     {top, file("/outside")},
		"absolute folder":              {top, folder("/tmp/outside/")},
		"dot":                          {top, file("./a")},
		"empty part":                   {top, folder("a/"), file("a//b")},
		"trailing slash":               {top, {Typeflag: tar.TypeSymlink, Name: "a/", Linkname: "/"}},
		"through a symlink":            {top, symlink("a", "/tmp"), file("a/outside")},
		"through a symlink inside":     {top, symlink("a", "."), file("a/b")},
		"symlink where a folder is":    {top, folder("a/"), symlink("a", "/tmp"), file("a/outside")},
		"through a file":               {top, file("a"), file("a/b")},
		"folder never made":            {top, file("a/b")},
		"folder left again":            {top, folder("a/"), folder("b/"), file("a/b")},
		"out of order":                 {top, file("b"), file("a")},
		"twice":                        {top, file("a"), file("a")},
		"link to outside":              {top, link("a", "../../etc/passwd")},
		"link to absolute":             {top, link("a", "/etc/passwd")},
		"link to itself":               {top, link("a", "a")},
		"link to later":                {top, link("a", "b"), file("b")},
		"character device":             {top, {Typeflag: tar.TypeChar, Name: "a", Devmajor: 1, Devminor: 3}},
		"block device":                 {top, {Typeflag: tar.TypeBlock, Name: "a", Devmajor: 8}},
		"pipe":                         {top, {Typeflag: tar.TypeFifo, Name: "a"}},
		"contiguous file":              {top, {Typeflag: tar.TypeCont, Name: "a"}},
		"more bytes than the marker":   {top, {Typeflag: tar.TypeReg, Name: "a", Size: 101}},
		"more bytes in two":            {top, {Typeflag: tar.TypeReg, Name: "a", Size: 51}, {Typeflag: tar.TypeReg, Name: "b", Size: 51}},
		"more entries than the marker": {top, folder("a/"), folder("b/"), folder("c/"), folder("d/"), folder("e/")},
	} {
		t.Run(name, func(t *testing.T) {
			stream, limits := forged(t, entries...), Limits{Entries: 5, Bytes: 100}
			if _, err := Inspect(t.Context(), bytes.NewReader(stream), limits, nil); !errors.Is(err, ErrUnsafe) {
				t.Errorf("Inspect: %v, want ErrUnsafe", err)
			}
			around := t.TempDir()
			inside := filepath.Join(around, "inside")
			if err := os.Mkdir(inside, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := Unpack(t.Context(), open(t, inside), bytes.NewReader(stream), limits, nil); !errors.Is(err, ErrUnsafe) {
				t.Errorf("Unpack: %v, want ErrUnsafe", err)
			}
			if got, _ := os.ReadDir(around); len(got) != 1 {
				t.Errorf("it wrote outside: %v", got)
			}
		})
	}
}

// Unpack detects what Inspect cannot see without the files.
func TestLinksGoToFilesOnly(t *testing.T) {
	for name, entries := range map[string][]tar.Header{
		"through one": {top, {Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}, {Typeflag: tar.TypeLink, Name: "b", Linkname: "a/passwd"}},
		"to a folder": {top, {Typeflag: tar.TypeDir, Name: "a/"}, {Typeflag: tar.TypeLink, Name: "b", Linkname: "a"}},
		"to nothing":  {top, {Typeflag: tar.TypeLink, Name: "b", Linkname: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Unpack(t.Context(), open(t, t.TempDir()), bytes.NewReader(forged(t, entries...)), everything, nil)
			if !errors.Is(err, ErrUnsafe) {
				t.Errorf("got %v, want ErrUnsafe", err)
			}
		})
	}
}

// A bomb unpacks from a megabyte to a gigabyte. Unpack must stop at the size in the marker.
func TestABombEndsAtTheMarker(t *testing.T) {
	var stream bytes.Buffer
	zip := gzip.NewWriter(&stream)
	w := tar.NewWriter(zip)
	for _, header := range []tar.Header{top, {Typeflag: tar.TypeReg, Name: "a", Size: 10}} {
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range 64 { // after the end
		if _, err := zip.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), &stream, Limits{2, 10}, nil); !errors.Is(err, ErrUnsafe) {
		t.Errorf("got %v, want ErrUnsafe", err)
	}
}

func TestEveryDamageIsFound(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"a": "hello", "b/c": "world", "b/d": string(make([]byte, 5000))})
	stream, want := packed(t, folder)
	for at := range stream {
		for name, damaged := range map[string][]byte{
			"cut off":  stream[:at],
			"flipped":  append(append(bytes.Clone(stream[:at]), stream[at]^0x10), stream[at+1:]...),
			"left out": append(bytes.Clone(stream[:at]), stream[at+1:]...),
		} {
			got, err := Inspect(t.Context(), bytes.NewReader(damaged), everything, nil)
			if err == nil && !cmp.Equal(got, want) {
				t.Fatalf("byte %d %s: another home, and no error", at, name)
			}
			// Bytes may have different codes, and gzip has unused bits: other damage may decode to the same content, and
			// the checksum of the whole detects it. Damage at the end never does.
			if err == nil && name == "cut off" {
				t.Fatalf("byte %d %s: no error", at, name)
			}
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(forged(f, top, tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 3}))
	f.Add(forged(f, top, tar.Header{Typeflag: tar.TypeDir, Name: "a/"}, tar.Header{Typeflag: tar.TypeSymlink, Name: "a/b", Linkname: "/"}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		summary, err := Inspect(t.Context(), bytes.NewReader(stream), Limits{10, 1 << 20}, nil)
		if err != nil {
			return
		}
		folder := t.TempDir()
		again, err := Unpack(t.Context(), open(t, folder), bytes.NewReader(stream), Limits{10, 1 << 20}, nil)
		if err == nil && again.Tree != summary.Tree {
			t.Errorf("Inspect said %s, Unpack %s", summary.Tree, again.Tree)
		}
	})
}
