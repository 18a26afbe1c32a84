package chaos

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

// work is the program of the Workspaces. Each run reads what the runs before it left, and adds to it. The count comes
// last, so that a counted run is complete.
const work = `cd /home/coder && n=$(($(cat runs 2>/dev/null | wc -l)+1)) && mkdir -p deep/$n &&
	echo "work of run $n" >deep/$n/file && ln -sfn ../../runs deep/$n/link && echo $n >>runs && exec sleep 100000`

// runsInHome returns how many runs of work a home holds. The error says which run is missing or wrong.
func runsInHome(home fs.FS) (int, error) {
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

// ledger knows what each Workspace's process wrote, and checks that it still exists. It shares no code with the engine,
// the stores and the movers.
type ledger struct {
	namespace string
	store     *harness.ObjectStore

	mu    sync.Mutex
	uids  map[string]string // of the Workspaces, by name
	wrote map[string]int    // how many runs must not be lost
	// lossAllowed are the Workspaces whose only copy a fault may have removed.
	lossAllowed map[string]bool
}

// register adds a Workspace.
func (l *ledger) register(name, uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uids[name] = uid
}

// setRuns records how many runs a home has.
func (l *ledger) setRuns(name string, runs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote[name] = runs
}

func (l *ledger) lookup(name string) (uid string, wrote int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uids[name], l.wrote[name]
}

// allowLoss records that a fault may remove the only copy.
func (l *ledger) allowLoss(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lossAllowed[name] = true
}

func (l *ledger) isLossAllowed(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lossAllowed[name]
}

// nameOf returns the Workspace with a UID, or "".
func (l *ledger) nameOf(uid string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, of := range l.uids {
		if of == uid {
			return name
		}
	}
	return ""
}

// verify checks the invariant: everything that was written is on the volume or in the archive. It reads the volume first,
// because that goes only after the archive exists. After an allowed loss the volume must not have another home.
func (l *ledger) verify(ctx context.Context, name string) error {
	uid, wrote := l.lookup(name)
	if wrote == 0 {
		return nil
	}
	onVolume, err := l.runsOnVolume(ctx, name)
	if err == nil && onVolume >= wrote {
		return nil
	}
	inArchive, stored := l.runsInArchive(uid)
	if stored == nil && inArchive >= wrote {
		return nil
	}
	if l.isLossAllowed(name) && onVolume == 0 {
		return nil
	}
	return fmt.Errorf("%s wrote %d runs, but the volume has %d (%w), the archive %d (%w)", name, wrote, onVolume, err, inArchive, stored)
}

// runsOnVolume returns the runs in the home on the volume.
func (l *ledger) runsOnVolume(ctx context.Context, name string) (int, error) {
	folder, err := l.folder(ctx, name)
	if err != nil {
		return 0, err
	}
	return runsInHome(os.DirFS(folder))
}

// folder returns the home on the volume.
func (l *ledger) folder(ctx context.Context, name string) (string, error) {
	var claim corev1.PersistentVolumeClaim
	if err := admin.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: "ws-" + name + "-home"}, &claim); err != nil {
		return "", err
	}
	return filepath.Join(installation.VolumeFolder(claim.UID), "home"), nil
}

// runsInArchive returns the most runs in any archive whose data match its marker.
func (l *ledger) runsInArchive(uid string) (most int, err error) {
	markers, _ := filepath.Glob(filepath.Join(l.store.Folder, "archives", uid, "*", "home.tar.gz.meta"))
	if len(markers) == 0 {
		return 0, errors.New("there is no archive")
	}
	for _, marker := range markers {
		runs, bad := runsInFile(marker)
		most, err = max(most, runs), errors.Join(err, bad)
	}
	if most > 0 {
		return most, nil
	}
	return 0, err
}

// runsInFile reads one archive.
func runsInFile(marker string) (int, error) {
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
		return 0, fmt.Errorf("got the checksum %x, want that of the marker: %q", sum, line)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	home := fstest.MapFS{}
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return runsInHome(home)
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
