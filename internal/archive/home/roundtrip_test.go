package home

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

var everything = Limits{Entries: 1 << 40, Bytes: 1 << 50}

// packed packs a folder and compares the results of Survey and Inspect with that of Pack.
func packed(t testing.TB, folder string) ([]byte, Summary) {
	t.Helper()
	var stream bytes.Buffer
	summary, err := Pack(t.Context(), open(t, folder), &stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	survey, err := Survey(t.Context(), open(t, folder))
	if diff := cmp.Diff(summary, survey); err != nil || diff != "" {
		t.Fatalf("Survey: %v, -Pack +Survey:\n%s", err, diff)
	}
	inspected, err := Inspect(t.Context(), bytes.NewReader(stream.Bytes()), Limits{summary.Entries, summary.Bytes}, nil)
	inspected.LeftOut, inspected.LeftOutCount, inspected.LeftOutKinds = summary.LeftOut, summary.LeftOutCount, summary.LeftOutKinds
	if diff := cmp.Diff(summary, inspected); err != nil || diff != "" {
		t.Fatalf("Inspect: %v, -Pack +Inspect:\n%s", err, diff)
	}
	return stream.Bytes(), summary
}

func unpacked(t testing.TB, stream []byte) string {
	t.Helper()
	folder := t.TempDir()
	if _, err := Unpack(t.Context(), open(t, folder), bytes.NewReader(stream), everything, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writable(folder) })
	return folder
}

// writable makes the test's folder deletable.
func writable(folder string) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

func TestRandomHomesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "home")
		if err != nil {
			t.Fatal(err)
		}
		plant(t, r, folder)
		before := snapshot(t, folder)
		stream, summary := packed(t, folder)
		back := unpacked(t, stream)
		if diff := cmp.Diff(before, snapshot(t, back)); diff != "" {
			r.Fatalf("-before +after:\n%s", diff)
		}
		if _, again := packed(t, back); !cmp.Equal(summary, again) {
			r.Fatalf("the same home gave another summary:\n%s", cmp.Diff(summary, again))
		}
		if summary.Entries != int64(len(before)) {
			r.Fatalf("%d entries, want %d", summary.Entries, len(before))
		}
		writable(folder)
	})
}

// plant creates a random home: odd names, empty and deep folders, links of both kinds, holes,
// odd modes and times.
func plant(t *testing.T, r *rapid.T, folder string) {
	t.Helper()
	name := rapid.OneOf(
		rapid.StringMatching(`[a-c]{1,2}`), // neighbours such as a, a-b and a/x
		rapid.SampledFrom([]string{"...", "-rf", " ", "a-b", "a b", "new\nline", "ünï", "日本", "\xff\xfe", "~", "a.", `back\slash`, "*", "é", strings.Repeat("n", 255)}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab!\t\"'é😀")), 1, 30, 255),
	)
	folders, files := []string{folder}, []string{}
	for range rapid.IntRange(0, 25).Draw(r, "entries") {
		path := filepath.Join(rapid.SampledFrom(folders).Draw(r, "in"), name.Draw(r, "name"))
		if _, err := os.Lstat(path); err == nil || len(path) > 3000 {
			continue
		}
		var err error
		switch rapid.IntRange(0, 9).Draw(r, "kind") {
		case 0, 1, 2:
			err = os.Mkdir(path, 0o755)
			folders = append(folders, path)
		case 3:
			err = os.Symlink(rapid.SampledFrom([]string{"..", "/etc/passwd", "a", "nowhere", "\xff", strings.Repeat("x/", 200)}).Draw(r, "target"), path)
		case 4:
			if len(files) > 0 {
				err = os.Link(rapid.SampledFrom(files).Draw(r, "target"), path)
			}
		default:
			err = os.WriteFile(path, content(r), 0o644)
			files = append(files, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dress(t, r, append(files, reversed(folders)...))
}

// dress sets modes, times and attributes, folders last and inner ones first.
func dress(t *testing.T, r *rapid.T, paths []string) {
	t.Helper()
	modes := rapid.SampledFrom([]fs.FileMode{0o644, 0o600, 0o755, 0o777 | fs.ModeSticky, 0o755 | fs.ModeSetuid, 0o770 | fs.ModeSetgid, 0o500})
	for _, path := range paths {
		if rapid.Bool().Draw(r, "attribute") {
			_ = unix.Setxattr(path, "user.kyklos", []byte("v\x00=\n"), 0)
		}
		when := time.Unix(rapid.Int64Range(-1<<31, 1<<33).Draw(r, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(r, "nanoseconds"))
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, modes.Draw(r, "mode")); err != nil {
			t.Fatal(err)
		}
	}
}

func content(r *rapid.T) []byte {
	size := rapid.SampledFrom([]int{0, 1, 511, 512, 513, 70_000, 1<<20 + 1}).Draw(r, "size")
	body := make([]byte, size)
	if seed := rapid.Uint64().Draw(r, "seed"); seed%3 > 0 {
		noise := rand.New(rand.NewPCG(seed, 0))
		for i := range body {
			if seed%3 == 1 || i/100_000%2 == 1 {
				body[i] = byte(noise.Uint32())
			}
		}
	}
	return body
}

func reversed(list []string) []string {
	var back []string
	for i := len(list) - 1; i >= 0; i-- {
		back = append(back, list[i])
	}
	return back
}

func TestSocketsPipesAndDevicesAreReportedAndLeftOut(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"file": "x"})
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	stream, summary := packed(t, folder)
	if diff := cmp.Diff([]string{`"pipe": pipe`, `"socket": socket`}, summary.LeftOut); diff != "" || summary.LeftOutCount != 2 {
		t.Errorf("%d left out, -want +got:\n%s", summary.LeftOutCount, diff)
	}
	if got := snapshot(t, unpacked(t, stream)); len(got) != 2 {
		t.Errorf("got %v, want the folder and the file", got)
	}
}

func TestHolesCostNothing(t *testing.T) {
	folder := t.TempDir()
	const size = 256 << 20
	file, err := os.Create(filepath.Join(folder, "disk.img"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, at := range []int64{0, 100 << 20, size - 4} {
		if _, err := file.WriteAt([]byte("data"), at); err != nil {
			t.Fatal(err)
		}
	}
	stream, summary := packed(t, folder)
	if summary.Bytes != size || len(stream) > 2<<20 {
		t.Errorf("%d bytes became %d, want under 2 MiB", summary.Bytes, len(stream))
	}
	back := unpacked(t, stream)
	if taken := blocks(t, filepath.Join(back, "disk.img")); taken > 1<<20 {
		t.Errorf("it takes %d bytes on disk, want its holes back", taken)
	}
	if diff := cmp.Diff(snapshot(t, folder), snapshot(t, back)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

func TestDeepFoldersComeBack(t *testing.T) {
	folder := t.TempDir()
	root, depth := open(t, folder), 600 // 600 x 10 characters: beyond what one system call takes
	for range depth {
		if err := root.Mkdir("deep-deep", 0o755); err != nil {
			t.Fatal(err)
		}
		inner, err := root.OpenRoot("deep-deep")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = inner.Close() })
		root = inner
	}
	if err := root.WriteFile("file", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	stream, summary := packed(t, folder)
	back := unpacked(t, stream)
	again, err := Survey(t.Context(), open(t, back))
	if diff := cmp.Diff(summary, again); err != nil || diff != "" || summary.Entries != int64(depth)+2 {
		t.Errorf("%v, %d entries, -before +after:\n%s", err, summary.Entries, diff)
	}
}
