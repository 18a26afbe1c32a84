package manifest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
)

// ReadRevision reads manifests as they were in a revision of the Git repository around the working directory; paths,
// relative to that directory, are files or folders, none being the whole of it. Those that the revision does not have are left out: they
// are new. It needs the program git.
func ReadRevision(ctx context.Context, revision string, paths []string) (*Set, error) {
	commit, err := git(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%q is no revision of this Git repository: %w", revision, err)
	}
	known, err := pathsAt(ctx, strings.TrimSpace(string(commit)), paths)
	if err != nil || len(known) == 0 && len(paths) > 0 {
		return &Set{}, err
	}
	archive, err := git(ctx, append([]string{"archive", "--format=tar", strings.TrimSpace(string(commit)), "--"}, known...)...)
	if err != nil {
		return nil, fmt.Errorf("read revision %s: %w", revision, err)
	}
	return untar(archive, revision, paths)
}

// pathsAt are those of paths that the commit has.
func pathsAt(ctx context.Context, commit string, paths []string) (known []string, err error) {
	for _, p := range paths {
		listed, err := git(ctx, "ls-tree", "--name-only", commit, "--", path.Clean(p))
		if err != nil {
			return nil, fmt.Errorf("look for %s in the revision: %w", p, err)
		}
		if len(bytes.TrimSpace(listed)) > 0 || path.Clean(p) == "." {
			known = append(known, path.Clean(p))
		}
	}
	return known, nil
}

func untar(archive []byte, revision string, named []string) (*Set, error) {
	var set Set
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return &set, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read revision %s: %w", revision, err)
		}
		if header.Typeflag != tar.TypeReg || !isManifest(header.Name) || strings.Contains("/"+header.Name, "/.") {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return nil, fmt.Errorf("read revision %s: %w", revision, err)
		}
		isNamed := false
		for _, name := range named {
			isNamed = isNamed || path.Clean(name) == header.Name
		}
		set.add(&File{Name: revision + ":" + header.Name, Data: data}, isNamed)
	}
}

// git runs the program git. Its error is what it printed.
func git(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("the program git is not installed")
		}
		return nil, errors.New(cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
	}
	return stdout.Bytes(), nil
}
