package mover

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// material is what a developer's home holds.
type material struct {
	name string
	// bytes is how much disk it takes, roughly. A large one is not kept while it is restored.
	bytes  int64
	large  bool
	rounds int
	plant  func(b *testing.B, home string)
}

// kinds are typical homes, one kind each.
var kinds = map[string]material{
	"source": {name: "a checkout of source code", bytes: 150 << 20, rounds: 3, plant: func(b *testing.B, home string) {
		plantText(b, home, 5_000, 500, 30_000)
		plantNoise(b, home, 2, 10<<20)
	}},
	"binaries": {name: "few large files", bytes: 128 << 20, rounds: 3, plant: func(b *testing.B, home string) {
		plantNoise(b, home, 4, 16<<20)
		plantText(b, home, 4, 16<<20, 16<<20)
	}},
	"holes": {name: "a file with holes", bytes: 16 << 20, rounds: 3, plant: plantSparse},
}

// materials are the homes to measure. Besides the kinds, a number is as many small files, and a size such as 20GB is one file.
var materials = materialsFlag("archives", "20000,source,binaries,holes")

func materialsFlag(name, value string) *[]material {
	var all []material
	parse := func(text string) error {
		all = nil
		for one := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			of, err := materialOf(one)
			if err != nil {
				return err
			}
			all = append(all, of)
		}
		return nil
	}
	if err := parse(value); err != nil {
		panic(err)
	}
	flag.Func(name, "homes to archive and restore: source, binaries, holes, numbers of small files, and sizes of one file, such as "+value+",20GB", parse)
	return &all
}

func materialOf(text string) (material, error) {
	if kind, known := kinds[text]; known {
		return kind, nil
	}
	if number, found := strings.CutSuffix(text, "GB"); found {
		if gigabytes, err := strconv.ParseInt(number, 10, 32); err == nil && gigabytes > 0 {
			size := gigabytes * 1e9
			return material{
				name: "one file of " + number + " GB", bytes: size, large: true, rounds: 1,
				plant: func(b *testing.B, home string) {
					if err := plantLarge(home, size); err != nil {
						b.Fatal(err)
					}
				},
			}, nil
		}
	}
	files, err := strconv.Atoi(text)
	if err != nil || files < 1 {
		return material{}, fmt.Errorf("%q is no home: use source, binaries, holes, a number of small files such as 20000, or the size of one file such as 20GB", text)
	}
	rounds := 3
	if files > 100_000 {
		rounds = 1
	}
	return material{
		name: thousands(files) + " small files", bytes: int64(files) * 8 << 10, rounds: rounds,
		plant: func(b *testing.B, home string) { plantText(b, home, files, 2_000, 8_000) },
	}, nil
}

// thousands is a number as 20,000.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// needsRoom skips a home for which the disk has no room, and says how much it needs.
func (m material) needsRoom(b *testing.B, folder string) {
	b.Helper()
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		b.Fatal(err)
	}
	need := 3 * m.bytes
	if m.large {
		need = 2 * m.bytes
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < need { //nolint:unconvert // Bavail and Bsize have other types elsewhere
		b.Skipf("%s needs %d GB of disk in TMPDIR, %s, which has %d", m.name, need/1e9+1, os.TempDir(), free/1e9)
	}
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

// plantLarge makes one file, every other megabyte of which does not compress. It is written piece by piece.
func plantLarge(home string, size int64) error {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(home, "disk.img"))
	if err != nil {
		return err
	}
	defer file.Close()
	noise, piece := rand.NewChaCha8([32]byte{}), make([]byte, 1<<20)
	text := bytes.Repeat([]byte("a line that repeats\n"), len(piece)/20+1)
	for written := int64(0); written < size; written += int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), size-written)]
		if written>>20%2 == 0 {
			_, _ = noise.Read(piece)
		} else {
			copy(piece, text)
		}
		if _, err := file.Write(piece); err != nil {
			return err
		}
	}
	return file.Close()
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
