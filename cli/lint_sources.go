package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/manifest"
)

// read reads the manifests to judge.
func (o *lintOptions) read(cmd *cobra.Command) (*manifest.Set, error) {
	if len(o.files) == 0 {
		return nil, errors.New("nothing to lint: give files or folders, as in kyklos lint -f config/, or - for standard input")
	}
	stop := progress(cmd.Context(), cmd.ErrOrStderr(), "Reading the manifests ...")
	defer stop()
	set, err := manifest.Read(o.files, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	stop()
	if len(set.Objects)+len(set.Problems) == 0 && slices.Equal(o.files, []string{manifest.Stdin}) {
		return nil, errors.New("standard input has no objects: look at what the command before the pipe says")
	}
	for _, file := range set.Skipped {
		note(cmd, file.Name+" is no YAML, and left out")
	}
	note(cmd, set.Notes...)
	return set, nil
}

// readOld reads what the manifests replace; nil if nobody said.
func (o *lintOptions) readOld(ctx context.Context) (*manifest.Set, error) {
	switch {
	case o.old != "" && o.oldGit != "":
		return nil, errors.New("--old and --old-git say the same thing: give one of them")
	case o.old != "":
		return readWhole("--old", []string{o.old})
	case o.oldGit != "":
		if slices.Contains(o.files, manifest.Stdin) {
			return nil, errors.New("--old-git needs files or folders: standard input has no history")
		}
		set, err := manifest.ReadRevision(ctx, o.oldGit, o.files)
		if err != nil {
			return nil, fmt.Errorf("--old-git: %w", err)
		}
		return whole("--old-git", set)
	default:
		return nil, nil
	}
}

// readWhole reads the sources that a flag names. All of it must be readable.
func readWhole(flag string, sources []string) (*manifest.Set, error) {
	set, err := manifest.Read(sources, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return whole(flag, set)
}

func whole(flag string, set *manifest.Set) (*manifest.Set, error) {
	if len(set.Problems) > 0 {
		return nil, fmt.Errorf("%s: %w", flag, set.Problems[0])
	}
	return set, nil
}
