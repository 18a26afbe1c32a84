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

// ReadRevision reads manifests from a revision of the Git repository of the working directory. Paths are absolute or relative to
// that directory; none is the whole directory. Paths that the revision does not have are skipped. It runs git.
func ReadRevision(ctx context.Context, revision string, paths []string) (*Set, error) {
	repo, err := currentRepository(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%q is not a revision of this Git repository; git log --all --oneline lists the revisions", revision)
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	named := make([]string, len(paths))
	for i := range paths {
		if named[i], err = repo.within(paths[i]); err != nil {
			return nil, err
		}
	}
	blobs, err := repo.blobs(ctx, strings.TrimSpace(commit), named)
	if err != nil {
		return nil, fmt.Errorf("read revision %s: %w", revision, err)
	}
	var sources []source
	for _, blob := range blobs {
		path := repo.name(blob.path)
		sources = append(sources, source{File: newFile(revision+":"+path, path, blob.data), named: slices.Contains(named, blob.path)})
	}
	return setOf(sources), nil
}

// repository is the root of a Git repository and the working directory in it, without symbolic links.
type repository struct{ root, here string }

// currentRepository asks git for the relative path of the root: git would resolve links in the absolute one.
func currentRepository(ctx context.Context) (*repository, error) {
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

// within is a path relative to the root, as git uses it.
func (r *repository) within(path string) (string, error) {
	full := filepath.Join(r.here, path)
	if filepath.IsAbs(path) {
		full = filepath.Clean(path)
		if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil { // the file itself may not exist any more
			full = filepath.Join(folder, filepath.Base(full))
		}
	}
	path, err := filepath.Rel(r.root, full)
	if err != nil || !filepath.IsLocal(path) {
		return "", fmt.Errorf("%s is outside of the Git repository %s", full, r.root)
	}
	return filepath.ToSlash(path), nil
}

func (r *repository) name(path string) string {
	name, err := filepath.Rel(r.here, filepath.Join(r.root, filepath.FromSlash(path)))
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}

type blob struct {
	path string
	data []byte
}

// blobs are the named files of a commit, and the manifests below named folders, except hidden ones. Unlike git archive, this
// includes files with export-ignore, and follows links, as on disk.
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
		case fields[0] == "120000" && !strings.Contains(path, "\n"): // a link, which git follows only if it is given by its path
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
	responses := bufio.NewReader(strings.NewReader(contents))
	for _, path := range paths {
		data, err := nextContent(responses)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if data != nil {
			blobs = append(blobs, &blob{path, data})
		}
	}
	return blobs, nil
}

// wanted reports whether a file is named, or is a manifest below a named folder and not hidden, as when reading folders.
func wanted(path string, named []string) bool {
	return slices.ContainsFunc(named, func(name string) bool {
		below, isBelow := "/"+path, name == "."
		if !isBelow {
			below, isBelow = strings.CutPrefix(path, name)
		}
		return isBelow && (below == "" || below[0] == '/' && isManifest(path) && !strings.Contains(below, "/."))
	})
}

// nextContent reads one response of git cat-file --batch: "ID blob SIZE", the content, and a line break. It is nil for a link that
// does not lead to a file of the commit: "dangling SIZE".
func nextContent(responses *bufio.Reader) ([]byte, error) {
	head, err := responses.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file returned no content: %w", err)
	}
	fields := strings.Fields(head)
	size, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return nil, fmt.Errorf("git cat-file returned no content: %s", strings.TrimSpace(head))
	}
	content := make([]byte, size+1)
	if _, err = io.ReadFull(responses, content); err != nil || !strings.Contains(head, " blob ") {
		return nil, err
	}
	return content[:size], nil
}

// git runs the program git, which supports worktrees, alternates and filters better than libraries. Its error is what it printed.
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
