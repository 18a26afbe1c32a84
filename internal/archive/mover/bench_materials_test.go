package mover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMaterials(t *testing.T) {
	for text, want := range map[string]string{
		"source": "a checkout of source code", "20000": "20,000 small files", "300000": "300,000 small files", "999": "999 small files",
		"1234567": "1,234,567 small files", "20GB": "one file of 20 GB",
	} {
		if got, err := materialOf(text); err != nil || got.name != want || got.bytes <= 0 || got.rounds == 0 || got.plant == nil {
			t.Errorf("%s: %+v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-5", "20 GB", "0GB", "GB", "20gb", "homes"} {
		if _, err := materialOf(text); err == nil || !strings.Contains(err.Error(), "20GB") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Half of the large file does not compress, and it has its size to the byte.
func TestPlantLarge(t *testing.T) {
	home := t.TempDir()
	if err := plantLarge(home, 5<<20+7); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(home, "disk.img"))
	if err != nil || len(content) != 5<<20+7 {
		t.Fatalf("%d bytes, %v", len(content), err)
	}
	if line := "a line that repeats\n"; !strings.HasPrefix(string(content[1<<20:]), line) || strings.Contains(string(content[:1<<20]), line) {
		t.Error("not every other megabyte repeats")
	}
}
