package workspace

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// work is what the workspaces' process does: each run finds what the runs before it left, and adds to
// it. The count goes last, so that a run which is counted is all there.
const work = `cd /home/coder && n=$(($(cat runs 2>/dev/null | wc -l)+1)) && mkdir -p deep/$n &&
	echo "work of run $n" >deep/$n/file && ln -sfn ../../runs deep/$n/link && echo $n >>runs && exec sleep 100000`

// runsIn is how many runs of work a home holds. The error says what of them is missing or wrong.
func runsIn(home fs.FS) (int, error) {
	text, err := fs.ReadFile(home, "runs")
	if err != nil {
		return 0, err
	}
	runs := strings.Count(string(text), "\n")
	var want strings.Builder
	for n := 1; n <= runs; n++ {
		fmt.Fprintln(&want, n)
		file, err := fs.ReadFile(home, fmt.Sprintf("deep/%d/file", n))
		if err != nil {
			return 0, err
		}
		if string(file) != fmt.Sprintf("work of run %d\n", n) {
			return 0, fmt.Errorf("run %d left %q", n, file)
		}
	}
	if string(text) != want.String() {
		return 0, fmt.Errorf("the runs are %q", text)
	}
	return runs, nil
}

// books know what each workspace's process wrote, and find it again. They share no code with the engine,
// the stores and the movers.
type books struct {
	namespace string
	store     *harness.ObjectStore

	mu    sync.Mutex
	uids  map[string]string // of the Workspaces, by name
	wrote map[string]int    // how many runs must not be lost
	// robbed are those from whom somebody took the only copy by hand.
	robbed map[string]bool
}

// opened remembers a Workspace.
func (b *books) opened(name, uid string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uids[name] = uid
}

// written says that a home has been seen with so many runs.
func (b *books) written(name string, runs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrote[name] = runs
}

func (b *books) of(name string) (uid string, wrote int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.uids[name], b.wrote[name]
}

// rob says that somebody takes the only copy by hand.
func (b *books) rob(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.robbed[name] = true
}

func (b *books) isRobbed(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.robbed[name]
}

// nameOf is the Workspace of a UID; "" if there is none.
func (b *books) nameOf(uid string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, of := range b.uids {
		if of == uid {
			return name
		}
	}
	return ""
}

// audit is the invariant: all that was written is there, on the volume or in the archive. The volume is
// looked at first, since it goes only after the archive is there. Who was robbed must not have another
// home instead.
func (b *books) audit(ctx context.Context, name string) error {
	uid, wrote := b.of(name)
	if wrote == 0 {
		return nil
	}
	onVolume, err := b.onVolume(ctx, name)
	if err == nil && onVolume >= wrote {
		return nil
	}
	archived, stored := b.archived(uid)
	if stored == nil && archived >= wrote {
		return nil
	}
	if b.isRobbed(name) && onVolume == 0 {
		return nil // but nothing may be run on what is not the home
	}
	return fmt.Errorf("%s wrote %d runs, but the volume has %d (%w), the archive %d (%w)", name, wrote, onVolume, err, archived, stored)
}

// onVolume are the runs in the home on the volume of the claim that there is.
func (b *books) onVolume(ctx context.Context, name string) (int, error) {
	folder, err := b.folder(ctx, name)
	if err != nil {
		return 0, err
	}
	return runsIn(os.DirFS(folder))
}

// folder is the home on the volume.
func (b *books) folder(ctx context.Context, name string) (string, error) {
	var claim corev1.PersistentVolumeClaim
	if err := admin.Get(ctx, client.ObjectKey{Namespace: b.namespace, Name: "ws-" + name + "-home"}, &claim); err != nil {
		return "", err
	}
	return filepath.Join(cluster.VolumeFolder(claim.UID), "home"), nil
}

// archived are the most runs in any archive whose data are what its marker says.
func (b *books) archived(uid string) (most int, err error) {
	markers, _ := filepath.Glob(filepath.Join(b.store.Folder, "archives", uid, "*", "home.tar.gz.meta"))
	if len(markers) == 0 {
		return 0, errors.New("there is none")
	}
	for _, marker := range markers {
		runs, bad := archivedRuns(marker)
		most, err = max(most, runs), errors.Join(err, bad)
	}
	if most > 0 {
		return most, nil
	}
	return 0, err
}

// archivedRuns reads one archive.
func archivedRuns(marker string) (int, error) {
	text, err := os.ReadFile(marker)
	if err != nil {
		return 0, err
	}
	data, err := os.ReadFile(strings.TrimSuffix(marker, ".meta"))
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(data)
	if line, _, _ := strings.Cut(string(text), "\n"); line != "sha256:"+hex.EncodeToString(sum[:]) {
		return 0, fmt.Errorf("the data's sum is %x, the marker's line %q", sum, line)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	home := fstest.MapFS{}
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return runsIn(home)
		}
		if err != nil {
			return 0, err
		}
		if header.Typeflag == tar.TypeReg {
			content, err := io.ReadAll(entries)
			if err != nil {
				return 0, err
			}
			home[path.Clean(header.Name)] = &fstest.MapFile{Data: content}
		}
	}
}
