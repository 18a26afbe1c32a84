package mover

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/test/bench"
)

// BenchmarkAgainstTarGzip measures the whole protocol, including reading back and flushing, next to tar with gzip or zstd and
// to restic with a new repository, on the same files: W41 for the data. All take turns, and the fastest of each counts, so
// that a busy machine affects all equally. A program that is not there is left out; restic is bin/restic. -archives chooses the
// homes, KYKLOS_BENCH_HOME names a real one instead, KYKLOS_BENCH_ROUNDS the number of rounds.
func BenchmarkAgainstTarGzip(b *testing.B) {
	if real := os.Getenv("KYKLOS_BENCH_HOME"); real != "" {
		b.Run("own", func(b *testing.B) {
			compareWithTar(b, material{name: "own", rounds: 3, plant: func(b *testing.B, home string) {
				shell(b, "", `mkdir -p "$1"; cp -a "$2/." "$1"`, home, real)
			}})
		})
		return
	}
	for _, of := range *materials {
		b.Run(of.name, func(b *testing.B) { compareWithTar(b, of) })
	}
}

// tool is another program that archives the folder home below volume into the file or folder archive, and restores it in a
// new folder.
type tool struct {
	name, program string
	prepare       string // not measured
	archive       string
	restore       string
}

var tools = []tool{
	{"tar and gzip", "gzip", ":", `tar -C home -cf - . | gzip > "$1"; sync "$1"`, `gzip -dc "$1" | tar -xf -; sync -f .`},
	{"tar and zstd", "zstd", ":", `tar -C home -cf - . | zstd -q -T0 > "$1"; sync "$1"`, `zstd -qdc "$1" | tar -xf -; sync -f .`},
	{"restic", "restic", `restic init -q -r "$1"`, `restic backup -q --no-cache -r "$1" home; sync -f "$1"`, `restic restore -q --no-cache -r "$1" latest --target .; sync -f .`},
}

func compareWithTar(b *testing.B, of material) {
	b.Setenv("PATH", filepath.Join(repository(b), "bin")+":"+os.Getenv("PATH"))
	b.Setenv("RESTIC_PASSWORD", "secret")
	present := slices.DeleteFunc(slices.Clone(tools), func(t tool) bool {
		_, err := exec.LookPath(t.program)
		return err != nil
	})
	folder := b.TempDir()
	of.needsRoom(b, folder)
	rounds, err := strconv.Atoi(os.Getenv("KYKLOS_BENCH_ROUNDS"))
	if err != nil {
		rounds = of.rounds
	}
	archived, restored := map[string]*took{}, map[string]*took{}
	for _, name := range append(names(present), kyklos) {
		archived[name], restored[name] = &took{}, &took{}
	}
	t := turns{material: of, volume: filepath.Join(folder, "volume"), archived: archived, restored: restored}
	for b.Loop() {
		for range rounds {
			for _, tool := range present {
				t.of(b, tool, mkdir(b, folder))
			}
			t.ours(b, mkdir(b, folder))
		}
	}
	for _, t := range present {
		record := func(what, unit string, ours, theirs float64) {
			bench.Record(b, bench.Figure{Area: "archives", What: of.name + ": " + what + ", beside " + t.name, Unit: unit, Value: ours, Floor: theirs, Beside: t.name})
		}
		own, other := archived[kyklos], archived[t.name]
		record("archiving", "s", own.wall.Seconds(), other.wall.Seconds())
		record("archiving, CPU", "s", own.cpu.Seconds(), other.cpu.Seconds())
		record("size", "MB", float64(own.size)/1e6, float64(other.size)/1e6)
		own, other = restored[kyklos], restored[t.name]
		record("restoring", "s", own.wall.Seconds(), other.wall.Seconds())
		record("restoring, CPU", "s", own.cpu.Seconds(), other.cpu.Seconds())
	}
}

// turns lets the programs archive and restore one home, one after the other, so that the disk holds the home or what is restored
// of it, and one archive.
type turns struct {
	material
	volume             string
	archived, restored map[string]*took
}

// planted makes the home, unless it is there.
func (t turns) planted(b *testing.B) {
	b.Helper()
	if _, err := os.Stat(t.volume); err != nil {
		t.plant(b, filepath.Join(t.volume, "home"))
		shell(b, "", `sync -f "$1"`, t.volume)
	}
}

// cleared makes room for a restored home. A small one stays, since making it takes longer than it is worth.
func (t turns) cleared(b *testing.B) {
	b.Helper()
	if t.large {
		shell(b, "", `rm -rf "$1"`, t.volume)
	}
}

// of archives and restores once with a program, in the folder temporary, which it removes.
func (t turns) of(b *testing.B, tool tool, temporary string) {
	t.planted(b)
	archive := filepath.Join(temporary, tool.program)
	shell(b, t.volume, tool.prepare, archive)
	t.archived[tool.name].least(b, func() { shell(b, t.volume, tool.archive, archive) })
	t.archived[tool.name].size = sizeOf(b, archive)
	t.cleared(b)
	t.restored[tool.name].least(b, func() { shell(b, mkdir(b, temporary), tool.restore, archive) })
	shell(b, "", `rm -rf "$1"`, temporary)
}

// ours does the same with Kyklos.
func (t turns) ours(b *testing.B, temporary string) {
	t.planted(b)
	stored := mkdir(b, temporary)
	store := filestore.New(stored)
	t.archived[kyklos].least(b, func() {
		if _, err := Archive(b.Context(), archiving(store, t.volume)); err != nil {
			b.Fatal(err)
		}
	})
	t.archived[kyklos].size = sizeOf(b, stored)
	t.cleared(b)
	t.restored[kyklos].least(b, func() {
		if _, err := Restore(b.Context(), restoring(store, mkdir(b, temporary))); err != nil {
			b.Fatal(err)
		}
	})
	shell(b, "", `rm -rf "$1"`, temporary)
}

const kyklos = "kyklos"

func names(tools []tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.name)
	}
	return all
}

// repository is the root of the repository.
func repository(b *testing.B) string {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		b.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// sizeOf is the size of all files in a file or folder.
func sizeOf(b *testing.B, path string) (total int64) {
	b.Helper()
	err := filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}

// took is the minimum duration, wall-clock and CPU, and the size of the archive.
type took struct {
	wall, cpu time.Duration
	size      int64
}

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
