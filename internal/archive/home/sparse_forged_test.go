package home

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"testing"
)

// Maps that do not fit are refused.
func TestForgedMapsAreRefused(t *testing.T) {
	for name, forge := range map[string]func(records map[string]string, text *string){
		"another version":       func(records map[string]string, _ *string) { records[ownSparse+"major"] = "2" },
		"no version":            func(records map[string]string, _ *string) { delete(records, ownSparse+"major") },
		"an older form":         func(records map[string]string, _ *string) { records[ownSparse+"map"] = "0,1" },
		"a negative size":       func(records map[string]string, _ *string) { records[ownSparse+"realsize"] = "-1" },
		"a size below its data": func(records map[string]string, _ *string) { records[ownSparse+"realsize"] = "1000" },
		"a name outside":        func(records map[string]string, _ *string) { records[ownSparse+"name"] = "../x" },
		"out of order":          func(_ map[string]string, text *string) { *text = "2\n512\n512\n0\n512\n" },
		"overlapping":           func(_ map[string]string, text *string) { *text = "2\n0\n512\n511\n512\n" },
		"beyond its end":        func(_ map[string]string, text *string) { *text = "1\n100000000\n1024\n" },
		"too long":              func(_ map[string]string, text *string) { *text = "1\n0\n9223372036854775807\n" },
		"more than its data":    func(_ map[string]string, text *string) { *text = "1\n0\n1025\n" },
		"less than its data":    func(_ map[string]string, text *string) { *text = "1\n0\n1023\n" },
		"a map without an end":  func(_ map[string]string, text *string) { *text = "99999999\n" },
		"no number":             func(_ map[string]string, text *string) { *text = "one\n0\n1024\n" },
	} {
		t.Run(name, func(t *testing.T) {
			records := map[string]string{ownSparse + "major": "1", ownSparse + "minor": "0", ownSparse + "name": "x", ownSparse + "realsize": "1000000"}
			text := "1\n0\n1024\n"
			stream := sparseStream(t, records, text)
			if _, err := Inspect(t.Context(), bytes.NewReader(stream), everything, nil); err != nil {
				t.Fatalf("before it is forged: %v", err)
			}
			forge(records, &text)
			if _, err := Inspect(t.Context(), bytes.NewReader(sparseStream(t, records, text)), everything, nil); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}

// sparseStream is a home with one sparse file of 1024 bytes of data.
func sparseStream(t *testing.T, records map[string]string, text string) []byte {
	t.Helper()
	var raw, header, stream bytes.Buffer
	w := tar.NewWriter(&raw)
	home := top
	home.Mode, home.Format, home.PAXRecords = 0o755, tar.FormatPAX, withFormat(nil)
	body := append([]byte(text), make([]byte, padding(int64(len(text)))+1024)...)
	file := tar.Header{Typeflag: tar.TypeReg, Name: "GNUSparseFile.0/x", Mode: 0o644, Size: int64(len(body)), Format: tar.FormatPAX, PAXRecords: records}
	if err := errors.Join(w.WriteHeader(&home), w.Flush(), tar.NewWriter(&header).WriteHeader(&file)); err != nil {
		t.Fatal(err)
	}
	if err := renameKeys(header.Bytes()[512:header.Len()-512], ownSparse, gnuSparse); err != nil {
		t.Fatal(err)
	}
	raw.Write(header.Bytes())
	raw.Write(body)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(&stream)
	if _, err := zip.Write(raw.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}
