package home

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// touching changes the home once, in the middle of the big file.
type touching struct {
	bytes.Buffer
	change func()
}

func (w *touching) Write(p []byte) (int, error) {
	if w.change != nil && w.Len() > 2<<20 {
		w.change()
		w.change = nil
	}
	return w.Buffer.Write(p)
}

func TestAChangeMeanwhileIsFound(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"appended":  func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("y"), 9<<20), 0o644) },
		"truncated": func(path string) error { return os.Truncate(path, 5) },
		"same size and time": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteAt([]byte("y"), 0)
			return errors.Join(err, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"new file":     func(path string) error { return os.WriteFile(path+"2", nil, 0o644) },
		"file deleted": func(path string) error { return os.Remove(filepath.Join(filepath.Dir(path), "z")) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			big := make([]byte, 8<<20)
			for i := range big {
				big[i] = byte(rand.Uint32())
			}
			write(t, folder, map[string]string{"big": string(big), "z": "last"})
			w := &touching{change: func() {
				if err := change(filepath.Join(folder, "big")); err != nil {
					t.Error(err)
				}
			}}
			if _, err := pack(t.Context(), open(t, folder), w, nil); !errors.Is(err, ErrChanged) {
				t.Errorf("got %v, want ErrChanged", err)
			}
		})
	}
}

func TestStopsWhenTold(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"a": "x", "b": "y"})
	stream, _ := packed(t, folder)
	ctx, stop := context.WithCancel(t.Context())
	report := func(Progress) { stop() }
	if _, err := Pack(ctx, open(t, folder), &bytes.Buffer{}, report); !errors.Is(err, context.Canceled) {
		t.Errorf("Pack: %v, want it cancelled", err)
	}
	if _, err := Unpack(ctx, open(t, t.TempDir()), bytes.NewReader(stream), everything, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Unpack: %v, want it cancelled", err)
	}
}
