package mover

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

// developersHome makes some 200 MB as developers have them: very many small files of text that repeats
// itself, and a large one that does not. KYKLOS_BENCH_HOME names a real one instead.
func developersHome(b *testing.B) (volume string, bytes int64) {
	b.Helper()
	volume = b.TempDir()
	if real := os.Getenv("KYKLOS_BENCH_HOME"); real != "" {
		if out, err := exec.Command("cp", "-a", real, filepath.Join(volume, "home")).CombinedOutput(); err != nil {
			b.Fatal(err, string(out))
		}
	} else {
		plantHome(b, filepath.Join(volume, "home"))
	}
	err := filepath.WalkDir(volume, func(_ string, entry os.DirEntry, err error) error {
		if info, infoErr := entry.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return volume, bytes
}

func plantHome(b *testing.B, home string) {
	b.Helper()
	noise := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		words[i] = fmt.Sprintf("%x", noise.Uint32N(1<<uint(8+i%24)))
	}
	for folder := range 200 {
		path := filepath.Join(home, fmt.Sprint("src/", folder%10, "/", folder))
		if err := os.MkdirAll(path, 0o755); err != nil {
			b.Fatal(err)
		}
		for file := range 50 {
			var text []byte
			for len(text) < 14_000 {
				text = append(append(text, words[int(noise.ExpFloat64()*300)%len(words)]...), " \n\t"[noise.IntN(3)])
			}
			if err := os.WriteFile(filepath.Join(path, fmt.Sprint(file, ".go")), text, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	large := make([]byte, 60<<20)
	for i := range large {
		large[i] = byte(noise.Uint32())
	}
	if err := os.WriteFile(filepath.Join(home, "binary"), large, 0o755); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBesideTarGzip measures the whole protocol, reading back and flushing included, beside
// tar and gzip on the same files: W39-W41's numbers for the data.
func BenchmarkBesideTarGzip(b *testing.B) {
	volume, bytes := developersHome(b)
	folder := b.TempDir()
	plain := filepath.Join(folder, "plain.tar.gz")
	shell := func(b *testing.B, script string) {
		b.SetBytes(bytes)
		for b.Loop() {
			cmd := exec.Command("sh", "-euc", script)
			cmd.Env = append(os.Environ(), "HOME_IN="+volume+"/home", "PLAIN="+plain, "OUT="+b.TempDir())
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatal(err, string(out))
			}
		}
	}
	b.Run("tar|gzip", func(b *testing.B) {
		shell(b, `tar -C "$HOME_IN" -cf - . | gzip > "$PLAIN"; sync "$PLAIN"`)
		info, _ := os.Stat(plain)
		b.ReportMetric(float64(info.Size())/float64(bytes), "of-size")
	})
	var store archive.Issuer
	b.Run("archive", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			store = filestore.New(mustMkdir(b, folder))
			result, err := Archive(b.Context(), archiving(store, volume))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(result.SizeBytes)/float64(bytes), "of-size")
		}
	})
	b.Run("gunzip|tar", func(b *testing.B) { shell(b, `gzip -dc "$PLAIN" | tar -C "$OUT" -xf -; sync -f "$OUT"`) })
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			if _, err := Restore(b.Context(), restoring(store, b.TempDir())); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func mustMkdir(b *testing.B, parent string) string {
	b.Helper()
	folder, err := os.MkdirTemp(parent, "store")
	if err != nil {
		b.Fatal(err)
	}
	return folder
}
