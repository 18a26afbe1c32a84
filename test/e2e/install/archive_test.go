package install

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// entries returns the names in a packaged chart.
func entries(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := os.Open(path)
	harness.Must(t, err)
	defer file.Close()
	stream, err := gzip.NewReader(file)
	harness.Must(t, err)
	names := map[string]bool{}
	for reader := tar.NewReader(stream); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		harness.Must(t, err)
		names[header.Name] = true
	}
}
