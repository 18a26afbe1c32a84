package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ReadRevision reads manifests as they were in a revision of the Git repository around the working directory. Paths, absolute
// or relative to that directory, are files or folders of the repository, none being the whole of the directory. Those that the
// revision does not have are left out: they are new. It needs the program git.
func ReadRevision(ctx context.Context, revision string, paths []string) (*Set, error) {
	place, err := repositoryHere(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%q is no revision of this Git repository: git log --all --oneline lists them", revision)
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	named := make([]string, len(paths))
	for i := range paths {
		if named[i], err = place.within(paths[i]); err != nil {
			return nil, err
		}
	}
	blobs, err := place.blobs(ctx, strings.TrimSpace(commit), named)
	if err != nil {
		return nil, fmt.Errorf("read revision %s: %w", revision, err)
	}
	var sources []source
	for _, blob := range blobs {
		path := place.name(blob.path)
		sources = append(sources, source{&File{Name: revision + ":" + path, Path: path, Data: blob.data}, slices.Contains(named, blob.path)})
	}
	return setOf(sources), nil
}

// repository is that around the working directory: where its root and that directory are, without links.
type repository struct{ root, here string }

// repositoryHere asks git for the way up to the root, and not for the root, in which git would have resolved the links.
func repositoryHere(ctx context.Context) (*repository, error) {
	up, err := git(ctx, "", "rev-parse", "--show-cdup")
	if err != nil {
		return nil, err
	}
	here, err := filepath.Abs(".")
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return nil, err
	}
	return &repository{root: filepath.Join(here, strings.TrimSpace(up)), here: here}, nil
}

// within is a path as git knows it, from the root.
func (r *repository) within(path string) (string, error) {
	full := filepath.Join(r.here, path)
	if filepath.IsAbs(path) {
		full = filepath.Clean(path)
		if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil { // it may be gone since
			full = filepath.Join(folder, filepath.Base(full))
		}
	}
	path, err := filepath.Rel(r.root, full)
	if err != nil || !filepath.IsLocal(path) {
		return "", fmt.Errorf("%s is outside of the Git repository %s", full, r.root)
	}
	return filepath.ToSlash(path), nil
}

// name is what people in the working directory call what git knows by a path.
func (r *repository) name(path string) string {
	name, err := filepath.Rel(r.here, filepath.Join(r.root, filepath.FromSlash(path)))
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}

// blob is the content of a file of a commit.
type blob struct {
	path string
	data []byte
}

// blobs are the manifests of a commit that are named, or are below what is, nothing hidden. They are read as they are: what
// the repository leaves out of archives (export-ignore) is there too, and links are the files that they lead to, as on disk.
func (r *repository) blobs(ctx context.Context, commit string, named []string) (blobs []*blob, err error) {
	args := []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	if !slices.Contains(named, ".") {
		args = append(append(args, "--"), named...)
	}
	listed, err := git(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	var paths []string
	var ids strings.Builder
	for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		what, path, _ := strings.Cut(entry, "\t") // 100644 blob ID
		fields := strings.Fields(what)
		if len(fields) != 3 || !wanted(path, named) {
			continue
		}
		id := fields[2]
		switch {
		case fields[0] == "120000" && !strings.Contains(path, "\n"): // a link, which git follows by its path alone
			id = commit + ":" + path
		case !strings.HasPrefix(fields[0], "100"):
			continue
		}
		paths = append(paths, path)
		ids.WriteString(id + "\n")
	}
	contents, err := git(ctx, ids.String(), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return nil, err
	}
	answers := bufio.NewReader(strings.NewReader(contents))
	for _, path := range paths {
		data, err := nextContent(answers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if data != nil {
			blobs = append(blobs, &blob{path, data})
		}
	}
	return blobs, nil
}

// wanted reports whether a file was named itself, or is a manifest, not hidden, below what was: the rules of reading folders, so that
// both sides of a comparison have the same files.
func wanted(path string, named []string) bool {
	return slices.ContainsFunc(named, func(name string) bool {
		below, isBelow := "/"+path, name == "."
		if !isBelow {
			below, isBelow = strings.CutPrefix(path, name)
		}
		return isBelow && (below == "" || below[0] == '/' && isManifest(path) && !strings.Contains(below, "/."))
	})
}

// nextContent reads one answer of git cat-file --batch: "ID blob SIZE", and behind that line the content and a line break. It is nil for a
// link to what is no file of the commit, of which git says as much, as in "dangling SIZE".
func nextContent(answers *bufio.Reader) ([]byte, error) {
	head, err := answers.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git does not give its content: %w", err)
	}
	fields := strings.Fields(head)
	size, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return nil, fmt.Errorf("git does not give its content: %s", strings.TrimSpace(head))
	}
	content := make([]byte, size+1)
	if _, err = io.ReadFull(answers, content); err != nil || !strings.Contains(head, " blob ") {
		return nil, err
	}
	return content[:size], nil
}

// git runs the program git, which knows of worktrees, alternates and filters what no library does. Its error is what it printed.
func git(ctx context.Context, stdin string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := command.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("the program git is not installed")
		}
		return "", errors.New(cmp.Or(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "fatal: "), err.Error()))
	}
	return stdout.String(), nil
}
