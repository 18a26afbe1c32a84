// Package upgrade upgrades a cluster from the previous release to this one and back, with both managers as real processes,
// and checks every write to every target.
package upgrade

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// previousCommit is the last one with v1alpha1 alone: the CRD, manifests and manager before v1beta1.
const previousCommit = "5e8a385b10b747c886c72c73b77222e56fb7f7a6"

// release is one version of Kyklos: its manifests and its manager with a movable clock.
type release struct {
	binary string
	// config is the folder that makes a whole installation, with self-managed certificates.
	config string
	// args are flags of this release's manager alone.
	args []string
}

// previous unpacks and builds the previous release. A checkout without history has no such commit.
func previous(t *testing.T) release {
	t.Helper()
	root := t.TempDir()
	if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", previousCommit).Run(); err != nil {
		t.Skipf("this checkout does not hold the previous release %s: fetch the history with git fetch --unshallow", previousCommit)
	}
	archive := exec.CommandContext(t.Context(), "git", "-C", harness.RootFor(t), "archive", "--format=tar", previousCommit)
	sources, err := archive.StdoutPipe()
	harness.Must(t, err)
	harness.Must(t, archive.Start())
	if err := errors.Join(unpack(sources, root), archive.Wait()); err != nil {
		t.Fatalf("unpack the previous release: %v", err)
	}
	return build(t, root, harness.Default) // it had no other certificates
}

// present is this release.
func present(t *testing.T) release {
	t.Helper()
	r := build(t, harness.RootFor(t), harness.SelfManaged)
	r.args = []string{"--storage-migration-delay=1s"} // there is one API server
	return r
}

func build(t *testing.T, root, config string) release {
	t.Helper()
	r := release{config: filepath.Join(root, "config", config), binary: filepath.Join(t.TempDir(), "kyklos")}
	harness.Must(t, harness.BuildMovableFrom(t.Context(), root, r.binary))
	return r
}

// unpack writes the folders and files of a tar stream below root.
func unpack(stream io.Reader, root string) error {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer folder.Close()
	for reader := tar.NewReader(stream); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = folder.MkdirAll(filepath.Clean(header.Name), 0o755)
		case tar.TypeReg:
			err = unpackFile(folder, header.Name, reader)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func unpackFile(folder *os.Root, name string, content io.Reader) error {
	file, err := folder.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
