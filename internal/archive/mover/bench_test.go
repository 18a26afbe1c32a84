package mover

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/test/bench"
)

// homes are typical contents of developers' homes, one kind each.
var homes = []struct {
	name  string
	plant func(b *testing.B, home string)
}{
	{"many small files", func(b *testing.B, home string) { plantText(b, home, 20_000, 2_000, 8_000) }},
	{"a checkout of source code", func(b *testing.B, home string) {
		plantText(b, home, 5_000, 500, 30_000)
		plantNoise(b, home, 2, 10<<20)
	}},
	{"few large files", func(b *testing.B, home string) { plantNoise(b, home, 4, 16<<20); plantText(b, home, 4, 16<<20, 16<<20) }},
	{"a file with holes", plantSparse},
}

// BenchmarkAgainstTarGzip measures the whole protocol, including reading back and flushing, next to tar and
// gzip on the same files: W41 for the data. All four take turns, and the fastest of each
// counts, so that a busy machine affects all equally. KYKLOS_BENCH_HOME names a real home instead,
// KYKLOS_BENCH_ROUNDS the number of rounds.
func BenchmarkAgainstTarGzip(b *testing.B) {
	if real := os.Getenv("KYKLOS_BENCH_HOME"); real != "" {
		b.Run("own", func(b *testing.B) {
			compareWithTar(b, "own", func(b *testing.B, home string) { shell(b, "", `mkdir -p "$1"; cp -a "$2/." "$1"`, home, real) })
		})
		return
	}
	for _, home := range homes {
		b.Run(home.name, func(b *testing.B) { compareWithTar(b, home.name, home.plant) })
	}
}

func compareWithTar(b *testing.B, name string, plant func(b *testing.B, home string)) {
	folder := b.TempDir()
	volume, plain := filepath.Join(folder, "volume"), filepath.Join(folder, "plain.tar.gz")
	plant(b, filepath.Join(volume, "home"))
	rounds, err := strconv.Atoi(os.Getenv("KYKLOS_BENCH_ROUNDS"))
	if err != nil {
		rounds = 3
	}
	var tar, archived, untar, restored took
	for b.Loop() {
		for range rounds {
			store, out := filestore.New(mkdir(b, folder)), mkdir(b, folder)
			tar.least(b, func() { shell(b, volume, `tar -C home -cf - . | gzip > "$1"; sync "$1"`, plain) })
			archived.least(b, func() {
				if _, err := Archive(b.Context(), archiving(store, volume)); err != nil {
					b.Fatal(err)
				}
			})
			untar.least(b, func() { shell(b, mkdir(b, out), `gzip -dc "$1" | tar -xf -; sync -f .`, plain) })
			restored.least(b, func() {
				if _, err := Restore(b.Context(), restoring(store, mkdir(b, out))); err != nil {
					b.Fatal(err)
				}
			})
			shell(b, folder, `rm -rf "$@"`, out)
		}
	}
	record := func(what, beside string, ours, theirs time.Duration) {
		bench.Record(b, bench.Figure{Area: "archives", What: name + ": " + what, Unit: "s", Value: ours.Seconds(), Floor: theirs.Seconds(), Beside: beside})
	}
	record("archiving", "tar | gzip", archived.wall, tar.wall)
	record("restoring", "gunzip | tar", restored.wall, untar.wall)
	record("archiving, CPU", "tar | gzip", archived.cpu, tar.cpu)
	record("restoring, CPU", "gunzip | tar", restored.cpu, untar.cpu)
}

// took is the minimum duration, wall-clock and CPU.
type took struct{ wall, cpu time.Duration }

func (t *took) least(b *testing.B, do func()) {
	b.Helper()
	cpu, start := processors(b), time.Now()
	do()
	wall := time.Since(start)
	cpu = processors(b) - cpu
	if t.wall == 0 || wall < t.wall {
		t.wall = wall
	}
	if t.cpu == 0 || cpu < t.cpu {
		t.cpu = cpu
	}
}

// processors is the CPU time of this process and of those it waited for.
func processors(b *testing.B) time.Duration {
	b.Helper()
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return all
}

func shell(b *testing.B, folder, script string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "sh", append([]string{"-euc", script, "sh"}, args...)...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
}

func mkdir(b *testing.B, parent string) string {
	b.Helper()
	folder, err := os.MkdirTemp(parent, "")
	if err != nil {
		b.Fatal(err)
	}
	return folder
}

// plantText makes files of words that repeat as in source code, 50 to a folder.
func plantText(b *testing.B, home string, files, least, most int) {
	b.Helper()
	noise := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		words[i] = fmt.Sprintf("%x", noise.Uint32N(1<<uint(8+i%24)))
	}
	var text []byte
	for len(text) < 2*most {
		text = append(append(text, words[int(noise.ExpFloat64()*300)%len(words)]...), " \n\t"[noise.IntN(3)])
	}
	for file := range files {
		start := noise.IntN(len(text) - most)
		plantFile(b, filepath.Join(home, fmt.Sprintf("src/%d/%d/%d.go", file/500, file/50, file)), text[start:start+least+noise.IntN(most-least+1)])
	}
}

// plantNoise makes files that do not compress.
func plantNoise(b *testing.B, home string, files, size int) {
	b.Helper()
	noise := rand.NewChaCha8([32]byte{})
	for file := range files {
		content := make([]byte, size)
		_, _ = noise.Read(content)
		plantFile(b, filepath.Join(home, fmt.Sprint("bin/", file)), content)
	}
}

// plantSparse makes a disk image: 256 MB, of which 16 are written.
func plantSparse(b *testing.B, home string) {
	b.Helper()
	name := filepath.Join(home, "disk.img")
	plantFile(b, name, bytes.Repeat([]byte(strings.Repeat("data", 1000)+"\n"), 4_000))
	if err := os.Truncate(name, 256<<20); err != nil {
		b.Fatal(err)
	}
}

func plantFile(b *testing.B, name string, content []byte) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		b.Fatal(err)
	}
}
