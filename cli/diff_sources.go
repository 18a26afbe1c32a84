package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/manifest"
)

// readSides reads what is compared: args are two sources, or one or two revisions and after -- paths.
func readSides(cmd *cobra.Command, args []string) (before, after *manifest.Set, err error) {
	sources, paths := args, []string(nil)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		sources, paths = args[:dash], args[dash:]
	}
	stop := progress(cmd.Context(), cmd.ErrOrStderr(), "Reading manifests ...")
	defer stop()
	switch {
	case len(paths) > 0 && len(sources) == 1:
		before, err = manifest.ReadRevision(cmd.Context(), sources[0], paths)
		if err == nil {
			after, err = readThere(paths)
		}
	case len(paths) > 0 && len(sources) == 2:
		before, err = manifest.ReadRevision(cmd.Context(), sources[0], paths)
		if err == nil {
			after, err = manifest.ReadRevision(cmd.Context(), sources[1], paths)
		}
	case len(paths) == 0 && len(sources) == 2:
		before, err = readSource(cmd, sources[0])
		if err == nil {
			after, err = readSource(cmd, sources[1])
		}
	default:
		return nil, nil, errors.New("give what was before and what is after: kyklos diff BEFORE AFTER, or kyklos diff REVISION -- PATHS")
	}
	if err != nil {
		return nil, nil, err
	}
	if isEmpty(before) && isEmpty(after) {
		return nil, nil, fmt.Errorf("no manifests on either side: nothing in %s", strings.Join(args, ", "))
	}
	return before, after, nil
}

// readSource reads a file, a folder, standard input, or REVISION:PATH. What is there as a file is no revision.
func readSource(cmd *cobra.Command, source string) (*manifest.Set, error) {
	if source == manifest.Stdin {
		return manifest.Read([]string{source}, cmd.InOrStdin())
	}
	_, err := os.Stat(source)
	if err == nil {
		return manifest.Read([]string{source}, nil)
	}
	revision, path, found := strings.Cut(source, ":")
	if !found {
		return nil, fmt.Errorf("%w: give a file or folder that is there, REVISION:PATH, or as in kyklos diff main -- PATH a revision before -- and paths behind it", err)
	}
	set, err := manifest.ReadRevision(cmd.Context(), revision, []string{path})
	if err == nil && isEmpty(set) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s has no manifests in %s\n", revision, path)
	}
	return set, err
}

// readThere reads those of paths that are there: others went with the change.
func readThere(paths []string) (*manifest.Set, error) {
	var there []string
	for _, path := range paths {
		switch _, err := os.Stat(path); {
		case err == nil:
			there = append(there, path)
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	return manifest.Read(there, nil)
}

func isEmpty(set *manifest.Set) bool {
	return len(set.Objects)+len(set.Problems)+len(set.Skipped)+len(set.Notes) == 0
}
