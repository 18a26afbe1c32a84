package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// After any sequence of states the folder has the last one only.
func TestVolumeShowsTheLastState(t *testing.T) {
	states := rapid.SliceOfN(rapid.MapOf(rapid.SampledFrom([]string{"tls.crt", "tls.key", "ca.crt"}), rapid.SliceOf(rapid.Byte())), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "kyklos-volume")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		v := &Volume{dir: dir}
		for _, state := range states.Draw(t, "states") {
			if err := v.write(state); err != nil {
				t.Fatal(err)
			}
			shown, hidden := contents(t, dir)
			want := map[string]string{}
			for key, content := range state {
				want[key] = string(content)
			}
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Fatalf("the volume (-want +got):\n%s", diff)
			}
			if len(hidden) != 2 { // ..data and the folder that it leads to
				t.Fatalf("left behind: %q", hidden)
			}
		}
	})
}

func contents(t *rapid.T, dir string) (shown map[string]string, hidden []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown = map[string]string{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			hidden = append(hidden, entry.Name())
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		shown[entry.Name()] = string(content)
	}
	return shown, hidden
}

// A reader that follows ..data once always reads the keys of one state.
func TestVolumeIsNeverTorn(t *testing.T) {
	v := &Volume{dir: t.TempDir()}
	state := func(value string) map[string][]byte {
		return map[string][]byte{"tls.crt": []byte(value), "tls.key": []byte(value)}
	}
	if err := v.write(state("a")); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 300 && err == nil; i++ {
			err = v.write(state(strings.Repeat("b", i)))
		}
		done <- err
	}()
	for reads := 0; ; reads++ {
		select {
		case err := <-done:
			if err != nil || reads == 0 {
				t.Fatalf("after %d reads: %v", reads, err)
			}
			return
		default:
		}
		now, err := os.Readlink(filepath.Join(v.dir, "..data"))
		if err != nil {
			t.Fatalf("..data is missing: %v", err)
		}
		certificate, err1 := os.ReadFile(filepath.Join(v.dir, now, "tls.crt"))
		key, err2 := os.ReadFile(filepath.Join(v.dir, now, "tls.key"))
		if err1 == nil && err2 == nil && string(certificate) != string(key) {
			t.Fatalf("torn: %q beside %q", certificate, key)
		}
	}
}
