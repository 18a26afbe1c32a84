package mover

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
