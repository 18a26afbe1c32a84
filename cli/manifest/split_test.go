package manifest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Documents are where they say that they are, in order, and an object of Parse is in its document.
func TestDocumentsHaveTheirPlaces(t *testing.T) {
	parts := []string{"---\n", "--- # x\n", "a: 1\n", "apiVersion: v1\nkind: Pod\n", "\r\n", "---\r\n", " ", `{"apiVersion": "v1", "kind": "Pod"}`, "\n", "\uFEFF", "---", "é: 2\n"}
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), ""))
		file := &File{Name: "f", Data: data}
		objects, _ := Parse(file)
		end := 0
		for i, d := range Documents(data) {
			if d.Offset < end || d.Offset+len(d.Text) > len(data) || !bytes.Equal(data[d.Offset:d.Offset+len(d.Text)], d.Text) {
				t.Fatalf("document %d of %q is not at %d, or overlaps the one before: %q", i, data, d.Offset, d.Text)
			}
			if line := 1 + bytes.Count(data[:d.Offset], []byte("\n")); line != d.Line && len(d.Text) > 0 {
				t.Fatalf("document %d of %q begins on line %d, not %d", i, data, line, d.Line)
			}
			end = d.Offset + len(d.Text)
			for _, object := range objects {
				if object.Document == i && !bytes.Equal(object.Raw, d.Text) {
					t.Fatalf("the object %q is not the document %q", object.Raw, d.Text)
				}
			}
		}
	})
}

// Files are those that Read looks into, whether they can be read or not.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"b.yaml": "{{", "a.json": "{}", "c.txt": "", ".d.yaml": "a: 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files([]string{Stdin, dir}, strings.NewReader("a: 1"))
	var got []string
	for _, file := range files {
		got = append(got, filepath.Base(file.Name)+" "+string(file.Data))
	}
	if diff := cmp.Diff([]string{"- a: 1", "a.json {}", "b.yaml {{"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := Files([]string{filepath.Join(dir, "none")}, nil); err == nil {
		t.Error("a file that is not there is no error")
	}
}
