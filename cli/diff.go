package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	namespace, from, format string
	days                    int
	exitCode                bool
}

// diffFormats are the values of --output.
var diffFormats = []string{"text", "markdown", "json"}

func newDiffCommand() *cobra.Command {
	options := diffOptions{namespace: manifest.Default, format: "text", days: 14}
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER | diff REVISION [REVISION] -- PATH...",
		Short: "Say what a change of manifests does to the coming weeks",
		Long: `Say what a change of manifests does to the coming weeks: for each schedule the changes of the count that come, go or
move, and the replica-hours before and after.

BEFORE and AFTER are files, folders, - for standard input, or REVISION:PATH for a file or folder as it was in a
revision of the Git repository. With -- the paths are compared between two revisions, or between one and the
files as they are now. Paths are relative to the working directory, also those in revisions.`,
		Example: `  # What has changed since the branch main?
  kyklos diff main -- config/samples/office-hours.yaml

  # Two files, in a week of next year
  kyklos diff config/samples/office-hours.yaml config/samples/holidays.yaml --from 2027-01-04 --days 7

  # A comment for a pull request
  kyklos diff main HEAD -o markdown -- config/samples/office-hours.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return options.run(cmd, args, time.Now()) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&options.namespace, "namespace", "n", options.namespace, "namespace of manifests that name none")
	flags.StringVar(&options.from, "from", "", `where to begin: a date, a "date time" on each schedule's clock, or RFC 3339; empty is now`)
	flags.IntVar(&options.days, "days", options.days, fmt.Sprintf("how many days to compare, 1 to %d", mostDays))
	flags.StringVarP(&options.format, "output", "o", options.format, strings.Join(diffFormats, ", "))
	flags.BoolVar(&options.exitCode, "exit-code", false, "exit with 1 if a schedule changes, as git diff does")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(diffFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// differs is the error of --exit-code.
type differs struct{}

func (differs) Error() string { return "schedules change" }
func (differs) ExitCode() int { return ExitFindings }

func (o *diffOptions) run(cmd *cobra.Command, args []string, now time.Time) error {
	if o.days < 1 || o.days > mostDays {
		return fmt.Errorf("--days: must be from 1 to %d, not %d", mostDays, o.days)
	}
	write, known := map[string]func(io.Writer, *diff.Difference, diff.Options) error{
		"text": diff.Text, "markdown": diff.Markdown,
		"json": func(w io.Writer, d *diff.Difference, _ diff.Options) error { return diff.JSON(w, d) },
	}[o.format]
	if !known {
		return fmt.Errorf("--output: %q is none of %s", o.format, strings.Join(diffFormats, ", "))
	}
	before, after, err := readSides(cmd, args)
	if err != nil {
		return err
	}
	note(cmd, slices.Concat(before.Notes, after.Notes)...)
	was, is, err := o.scalers(cmd, before, after)
	if err != nil {
		return err
	}
	difference, err := o.compare(was, is, now)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := write(out, difference, diff.Options{Days: o.days, From: o.fromText(now), Colours: colours(out)}); err != nil {
		return err
	}
	if o.exitCode && !difference.Empty() {
		return differs{}
	}
	return nil
}

// fromText is the beginning in words; a date is that of each schedule's own zone.
func (o *diffOptions) fromText(now time.Time) string {
	if o.from != "" {
		return o.from
	}
	return now.UTC().Format("2006-01-02 15:04") + " UTC"
}

// scalers are the schedules of both sides. What cannot be read is left out with a note if it is the same on both sides, for
// then the change does nothing to it; otherwise it is an error.
func (o *diffOptions) scalers(cmd *cobra.Command, before, after *manifest.Set) (was, is []*source.Scaler, err error) {
	was, problemsBefore := source.FromManifests(before, o.namespace, nil)
	is, problemsAfter := source.FromManifests(after, o.namespace, nil)
	remark(cmd, was, is)
	known := make(map[string]bool)
	for _, problem := range problemsBefore {
		known[string(problem.Source.Raw)] = true
	}
	for _, problem := range before.Problems {
		known[string(problem.File.Data)] = true
	}
	var broken, old []error
	judge := func(text []byte, problem error) {
		if known[string(text)] {
			old = append(old, problem)
			return
		}
		broken = append(broken, problem)
	}
	for _, problem := range after.Problems {
		judge(problem.File.Data, problem)
	}
	for _, problem := range problemsAfter {
		judge(problem.Source.Raw, problem)
	}
	if len(old) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "Left out, for they cannot be read now as before: %d in all, the first %v\n", len(old), old[0])
	}
	return was, is, unreadable(cmd, broken)
}

func (o *diffOptions) compare(before, after []*source.Scaler, now time.Time) (*diff.Difference, error) {
	sources := make(map[*timeline.Timeline]*source.Scaler)
	build := func(s *source.Scaler, clock *time.Location) (*timeline.Timeline, error) {
		made, err := o.timeline(s, clock, now)
		sources[made] = s
		return made, err
	}
	var was, is []*timeline.Timeline
	clocks := make(map[types.NamespacedName]*time.Location) // of one name, both sides begin at the same instant
	for _, s := range after {
		clocks[s.Key()] = s.Calendar.Zone
		made, err := build(s, s.Calendar.Zone)
		if err != nil {
			return nil, err
		}
		is = append(is, made)
	}
	for _, s := range before {
		made, err := build(s, cmp.Or(clocks[s.Key()], s.Calendar.Zone))
		if err != nil {
			return nil, err
		}
		was = append(was, made)
	}
	difference := diff.Compare(was, is)
	renamed := false
	for _, s := range difference.Scalers {
		if !s.Renamed() {
			continue
		}
		made, err := build(sources[s.Before], s.After.Scaler.Calendar.Zone) // what has another name begins there too
		if err != nil {
			return nil, err
		}
		was[slices.Index(was, s.Before)], renamed = made, true
	}
	if renamed {
		difference = diff.Compare(was, is)
	}
	for i := range difference.Scalers {
		addNotes(&difference.Scalers[i], sources)
	}
	return difference, nil
}

// timeline is what a schedule does, from a beginning on a clock.
func (o *diffOptions) timeline(s *source.Scaler, clock *time.Location, now time.Time) (*timeline.Timeline, error) {
	from := now.Truncate(time.Minute).In(clock)
	if o.from != "" {
		var err error
		if from, err = source.ParseTime(o.from, clock); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
	}
	return timeline.Compute(&s.Scaler, from, source.AddDays(from, o.days)), nil
}

// addNotes adds what only the manifests tell: the versions, and holidays whose ConfigMap is not among them.
func addNotes(s *diff.Scaler, sources map[*timeline.Timeline]*source.Scaler) {
	before, after := sources[s.Before], sources[s.After]
	if before != nil && after != nil {
		was, is := before.Source.GroupVersionKind().Version, after.Source.GroupVersionKind().Version
		if was != is {
			text := fmt.Sprintf("apiVersion: %s before, %s after", was, is)
			if s.Kind == diff.Unchanged {
				text += ": no change in what it does"
			}
			s.Notes = append(s.Notes, text)
		}
	}
	missingBefore, missingAfter := before != nil && before.HolidaysMissing, after != nil && after.HolidaysMissing
	if s.Kind != diff.Unchanged && (missingBefore || missingAfter) {
		s.Notes = append(s.Notes, "holidays: their ConfigMap is not among the manifests, so every day counts as a normal day")
	}
}
