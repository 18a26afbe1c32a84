package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/preview/draw"
	"kyklos.io/kyklos/cli/preview/output"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// mostDays is the longest stretch that preview shows: a year, and some weeks.
const mostDays = 400

// previewOptions are the flags of preview.
type previewOptions struct {
	schedules
	from, zone, format string
	days               int
}

// previewFormats are the values of --output, in the order of its help.
var previewFormats = []string{"table", "json", "svg", "html", "png", "ics"}

func newPreviewCommand() *cobra.Command {
	options := previewOptions{format: "table", days: 14}
	cmd := &cobra.Command{
		ValidArgsFunction: completeScalers,
		Use:               "preview [-f FILE]... [NAME...]",
		Short:             "Show what schedules will do: every change of the count, and the replica-hours",
		Long: `Show what schedules will do in a stretch of time: every instant at which the count changes, why it does,
the replica-hours of each day, and what they save against the highest count all the time.

Schedules come from manifests (-f), with the holidays of ConfigMaps among them, or without -f from a
cluster. NAME selects some of them. Nothing is changed anywhere.`,
		Example: `  # The next two weeks of a manifest
  kyklos preview -f config/samples/office-hours.yaml

  # A week in which the clocks change, by the clock of another place
  kyklos preview -f config/samples/follow-the-sun.yaml --from 2027-03-22 --days 7 --zone Asia/Tokyo

  # Two of the schedules of a folder, as JSON
  kyklos preview -f config/samples webapp-office-hours back-office-weekdays --from 2026-12-21 -o json

  # Events for a calendar
  kyklos preview -f config/samples/night-batch.yaml --from 2026-06-01 --days 30 -o ics

  # All schedules of a namespace of a cluster, with their holidays and state
  kyklos preview -n desk`,
		RunE: func(cmd *cobra.Command, names []string) error { return options.run(cmd, names) },
	}
	flags := cmd.Flags()
	options.bind(flags)
	flags.StringVar(&options.from, "from", "", `where to begin: a date, a "date time" on the schedule's clock or that of --zone, or RFC 3339; empty is now`)
	flags.IntVar(&options.days, "days", options.days, fmt.Sprintf("how many days to show, 1 to %d", mostDays))
	flags.StringVar(&options.zone, "zone", "", "time zone to show local times in, such as Europe/Berlin; empty takes each schedule's own")
	flags.StringVarP(&options.format, "output", "o", options.format, strings.Join(previewFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(previewFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *previewOptions) run(cmd *cobra.Command, names []string) error {
	write, zone, err := o.check(cmd.OutOrStdout())
	if err != nil {
		return err
	}
	scalers, err := o.read(cmd, names)
	if err != nil {
		return err
	}
	timelines, err := o.timelines(scalers, zone, time.Now())
	if err != nil {
		return err
	}
	if o.holidays != "" && !slices.ContainsFunc(scalers, followsHolidays) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Note: none of these schedules follows holidays (spec.holidays), so --holidays changes nothing.")
	}
	for _, s := range scalers {
		if unknown := s.UnknownHolidays(); o.format == "ics" && unknown != "" { // a calendar has no notes
			note(cmd, fmt.Sprintf("%s: %s", s.Key(), unknown))
		}
	}
	return write(cmd.OutOrStdout(), timelines, output.Options{Zone: zone, Colours: colours(cmd.OutOrStdout())})
}

func followsHolidays(s *source.Scaler) bool { return schedule.HolidaySource(s.Spec) != "" }

// previewWriter writes timelines in a format.
type previewWriter func(io.Writer, []*timeline.Timeline, output.Options) error

// check reads the flags that need no schedules. The zone is nil if none was named.
func (o *previewOptions) check(out io.Writer) (write previewWriter, zone *time.Location, err error) {
	write, known := map[string]previewWriter{
		"table": output.Table, "json": output.JSON, "ics": output.ICS, "svg": drawn(draw.SVG), "html": drawn(draw.HTML), "png": drawn(draw.PNG),
	}[o.format]
	switch {
	case !known:
		return nil, nil, fmt.Errorf("--output: %q is none of %s", o.format, strings.Join(previewFormats, ", "))
	case o.format == "png" && isTerminal(out):
		return nil, nil, fmt.Errorf("--output: a PNG is nothing for a terminal: write it to a file, as in -o png > week.png")
	case o.days < 1 || o.days > mostDays:
		return nil, nil, fmt.Errorf("--days: must be from 1 to %d, not %d", mostDays, o.days)
	}
	if o.zone != "" {
		if zone, err = timecalc.LoadZone(o.zone); err != nil {
			return nil, nil, fmt.Errorf("--zone: %w", err)
		}
	}
	return write, zone, nil
}

// timelines computes what the schedules do. A date in --from is that of zone, or of each schedule's own zone.
func (o *previewOptions) timelines(scalers []*source.Scaler, zone *time.Location, now time.Time) ([]*timeline.Timeline, error) {
	timelines := make([]*timeline.Timeline, len(scalers))
	for i, s := range scalers {
		clock := zone
		if clock == nil {
			clock = s.Calendar.Zone
		}
		from := now.Truncate(time.Minute).In(clock)
		if o.from != "" {
			var err error
			if from, err = source.ParseTime(o.from, clock); err != nil {
				return nil, fmt.Errorf("--from: %w", err)
			}
		}
		timelines[i] = timeline.Compute(&s.Scaler, from, source.AddDays(from, o.days))
	}
	return timelines, nil
}
