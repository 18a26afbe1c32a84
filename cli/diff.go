package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/wallclock"
)

type diffOptions struct {
	period
	namespace, format string
	exitCode          bool
}

var diffFormats = []string{"text", "markdown", "json"}

func newDiffCommand() *cobra.Command {
	options := diffOptions{namespace: manifest.Default, format: "text"}
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER | diff REVISION [REVISION] -- PATH...",
		Short: "Show how a change of manifests affects the coming weeks",
		Long: `Show how a change of manifests affects the coming weeks: for each schedule the changes of the count that are
added, removed or moved, and the replica-hours before and after.

BEFORE and AFTER are files, folders, - for standard input, or REVISION:PATH for a file or folder in a revision
of the Git repository. With --, the paths are compared between two revisions, or between one and the working
tree. Paths are relative to the working directory, also in revisions.`,
		Example: `  # What has changed since the branch main?
  kyklos diff main -- config/samples/office-hours.yaml

  # Two files, in a week of next year
  kyklos diff config/samples/office-hours.yaml config/samples/holidays.yaml --from 2027-01-04 --days 7

  # A comment for a pull request
  kyklos diff main HEAD -o markdown -- config/samples/office-hours.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return options.run(cmd, args, wallclock.Clock.Now()) },
	}
	flags := cmd.Flags()
	options.bind(flags, "in each schedule's zone")
	flags.StringVarP(&options.namespace, "namespace", "n", options.namespace, "namespace of manifests without one")
	bindChoice(cmd, &options.format, "output", "o", strings.Join(diffFormats, ", "), diffFormats)
	flags.BoolVar(&options.exitCode, "exit-code", false, "exit with 1 if a schedule changes, like git diff")
	return cmd
}

func (o *diffOptions) run(cmd *cobra.Command, args []string, now time.Time) error {
	if err := errors.Join(checkChoice("output", o.format, diffFormats), o.check()); err != nil {
		return err
	}
	before, after, err := readBothSides(cmd, args)
	if err != nil {
		return err
	}
	note(cmd.ErrOrStderr(), slices.Concat(before.Notes, after.Notes)...)
	was, is, err := o.scalers(cmd, before, after)
	if err != nil {
		return err
	}
	difference, err := o.compare(was, is, now)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	write := map[string]func(io.Writer, *diff.Difference, diff.Options) error{
		"text": diff.Text, "markdown": diff.Markdown,
		"json": func(w io.Writer, d *diff.Difference, _ diff.Options) error { return diff.JSON(w, d) },
	}[o.format]
	from := cmp.Or(o.from, now.UTC().Format("2006-01-02 15:04")+" UTC")
	if err := write(out, difference, diff.Options{Days: o.days, From: from, Colours: console.Colours(out)}); err != nil {
		return err
	}
	if o.exitCode && !difference.Empty() {
		return findings("schedules change")
	}
	return nil
}

// readBothSides reads two sources, or the paths after -- in one or two revisions.
func readBothSides(cmd *cobra.Command, args []string) (before, after *manifest.Set, err error) {
	sources, paths := args, []string(nil)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		sources, paths = args[:dash], args[dash:]
	}
	revision := func(i int) (*manifest.Set, error) { return manifest.ReadRevision(cmd.Context(), sources[i], paths) }
	var sides [2]func() (*manifest.Set, error)
	switch {
	case len(paths) > 0 && len(sources) == 1:
		sides[0], sides[1] = func() (*manifest.Set, error) { return revision(0) }, func() (*manifest.Set, error) { return manifest.ReadExisting(paths) }
	case len(paths) > 0 && len(sources) == 2:
		sides[0], sides[1] = func() (*manifest.Set, error) { return revision(0) }, func() (*manifest.Set, error) { return revision(1) }
	case len(paths) == 0 && slices.Equal(sources, []string{manifest.Stdin, manifest.Stdin}):
		return nil, nil, errors.New("standard input can be one side only: give a file, a folder or REVISION:PATH for the other, as in kyklos diff main:FILE -")
	case len(paths) == 0 && len(sources) == 2:
		for i := range sides {
			sides[i] = func() (*manifest.Set, error) {
				set, err := manifest.ReadSource(cmd.Context(), sources[i], cmd.InOrStdin())
				if revision, path, isRevision := strings.Cut(sources[i], ":"); err == nil && isRevision && set.Empty() {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s has no manifests in %s\n", revision, path)
				}
				return set, err
			}
		}
	default:
		return nil, nil, errors.New("two sides are required: kyklos diff BEFORE AFTER, or kyklos diff REVISION -- PATHS")
	}
	defer progress(cmd, "Reading the manifests ...")()
	if before, err = sides[0](); err != nil {
		return nil, nil, err
	}
	if after, err = sides[1](); err != nil {
		return nil, nil, err
	}
	if before.Empty() && after.Empty() {
		return nil, nil, fmt.Errorf("no manifests on either side in %s", strings.Join(args, ", "))
	}
	return before, after, nil
}

// scalers are the schedules of both sides. A manifest that is equally invalid on both sides is left out: the change does not
// affect it. Others are an error, on either side: a schedule that cannot be read is not a schedule that does not exist.
func (o *diffOptions) scalers(cmd *cobra.Command, before, after *manifest.Set) (was, is []*source.Scaler, err error) {
	was, problemsBefore := source.FromManifests(before, o.namespace, nil)
	is, problemsAfter := source.FromManifests(after, o.namespace, nil)
	printRemarks(cmd, slices.Concat(was, is))
	sides := [2][]unread{unreadOf(before, problemsBefore), unreadOf(after, problemsAfter)}
	var wrong, same []error
	for i, side := range sides {
		for _, one := range side {
			switch isSame := slices.ContainsFunc(sides[1-i], one.sameAs); {
			case !isSame:
				wrong = append(wrong, one.problem)
			case i == 1: // once for both sides
				same = append(same, one.problem)
			}
		}
	}
	if len(same) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "Skipped manifests that are invalid on both sides: %d, the first %v\n", len(same), same[0])
	}
	return was, is, printProblems(cmd, wrong)
}

// unread is a text that cannot be read, and why.
type unread struct {
	text    []byte
	problem error
}

// sameAs reports whether two texts are equal. A file that cannot be opened has none, and equals no other.
func (u unread) sameAs(other unread) bool { return u.text != nil && bytes.Equal(u.text, other.text) }

func unreadOf(set *manifest.Set, invalid []*source.Problem) (all []unread) {
	for _, problem := range set.Problems {
		all = append(all, unread{problem.File.Data, problem})
	}
	for _, problem := range invalid {
		all = append(all, unread{problem.Source.Raw, problem})
	}
	return all
}

func (o *diffOptions) compare(before, after []*source.Scaler, now time.Time) (*diff.Difference, error) {
	sources := make(map[*timeline.Timeline]*source.Scaler)
	zones := make(map[types.NamespacedName]*time.Location) // both sides of a name start at the same instant
	renamed := make(map[*source.Scaler]*time.Location)     // and both names of a renamed schedule
	for _, s := range after {
		zones[s.Key()] = s.Calendar.Zone
	}
	compute := func(scalers []*source.Scaler) (timelines []*timeline.Timeline, err error) {
		for _, s := range scalers {
			made, err := o.timeline(s, cmp.Or(renamed[s], zones[s.Key()], s.Calendar.Zone), now)
			if err != nil {
				return nil, err
			}
			sources[made] = s
			timelines = append(timelines, made)
		}
		return timelines, nil
	}
	is, err := compute(after)
	if err != nil {
		return nil, err
	}
	was, err := compute(before)
	if err != nil {
		return nil, err
	}
	difference := diff.Compare(was, is)
	for _, s := range difference.Scalers {
		if s.Renamed() {
			renamed[sources[s.Before]] = s.After.Scaler.Calendar.Zone
		}
	}
	if len(renamed) > 0 {
		if was, err = compute(before); err != nil {
			return nil, err
		}
		difference = diff.Compare(was, is)
	}
	for i := range difference.Scalers {
		addNotes(&difference.Scalers[i], sources)
	}
	return difference, nil
}

// addNotes adds what timelines do not have: the API versions, and missing ConfigMaps of holidays.
func addNotes(s *diff.Scaler, sources map[*timeline.Timeline]*source.Scaler) {
	before, after := sources[s.Before], sources[s.After]
	if before != nil && after != nil {
		was, is := before.Source.GroupVersionKind().Version, after.Source.GroupVersionKind().Version
		if was != is {
			text := fmt.Sprintf("apiVersion: %s before, %s after", was, is)
			if s.Kind == diff.Unchanged {
				text += ", without any effect"
			}
			s.Notes = append(s.Notes, text)
		}
	}
	missing := before != nil && before.HolidaysMissing || after != nil && after.HolidaysMissing
	if s.Kind != diff.Unchanged && missing {
		s.Notes = append(s.Notes, "holidays: their ConfigMap is not among the manifests, so every day is a normal day")
	}
}
