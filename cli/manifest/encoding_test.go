package manifest_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"kyklos.io/kyklos/cli/manifest"
)

// inUTF16 encodes a text with a byte order mark, as editors do.
func inUTF16(t *testing.T, text string, order binary.ByteOrder) string {
	t.Helper()
	var data bytes.Buffer
	if err := binary.Write(&data, order, utf16.Encode([]rune("\ufeff"+text))); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

// UTF-16 is read as kubectl reads it: the first document only. A second one is reported, in folders as well if it is about Kyklos.
func TestReadUTF16(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "# é, 🕘\n" + configMap("first")
	second := text + "---\n# kyklos.io\n" + configMap("second")
	for name, order := range map[string]binary.ByteOrder{"UTF-16LE": binary.LittleEndian, "UTF-16BE": binary.BigEndian} {
		write(t, ".", map[string]string{"one/a.yaml": inUTF16(t, text, order), "two/a.yaml": inUTF16(t, second, order), "odd/a.yaml": inUTF16(t, text+"# kyklos.io", order) + "\x00"})
		set, err := manifest.Read([]string{"one"}, nil)
		if err != nil || len(set.Problems)+len(set.Skipped) > 0 || len(set.Objects) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, set)
		}
		if file := set.Objects[0].File; string(file.Data) != text || file.Encoding != name {
			t.Errorf("%s: read as %q, in %s", name, file.Data, file.Encoding)
		}
		for _, source := range []string{"two", "two/a.yaml"} {
			set, err := manifest.Read([]string{source}, nil)
			if err != nil || len(set.Objects) != 1 || len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Reason, "kubectl reads only the first one of a file in "+name) {
				t.Errorf("%s of %s: %v, %+v", source, name, err, set)
			}
		}
		if set, err := manifest.Read([]string{"odd"}, nil); err != nil || len(set.Problems) != 1 {
			t.Errorf("half a character of %s: %v, %+v", name, err, set)
		}
	}
	piped, err := manifest.Read([]string{"-"}, strings.NewReader(inUTF16(t, text, binary.LittleEndian)))
	if err != nil || len(piped.Objects) != 1 {
		t.Errorf("standard input: %v, %+v", err, piped)
	}
	if data, err := os.ReadFile("one/a.yaml"); err != nil || !bytes.HasPrefix(data, []byte{0xfe, 0xff}) && !bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		t.Errorf("the file is changed: %v", err)
	}
}
