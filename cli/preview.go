package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/preview/render"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
	"kyklos.io/kyklos/internal/wallclock"
)

type previewOptions struct {
	scalerFlags
	period
	zone, format string
}

func newPreviewCommand() *cobra.Command {
	options := previewOptions{format: render.Formats[0]}
	cmd := &cobra.Command{
		ValidArgsFunction: completeScalers,
		Use:               "preview [-f FILE]... [NAME...]",
		Short:             "Show what schedules will do: every change of the count, and the replica-hours",
		Long: `Show what schedules will do in a period: every change of the count and its reason, the replica-hours of each
day, and the savings compared with the highest count all the time.

Schedules come from manifests (-f), with the holidays of ConfigMaps among them, or without -f from a cluster.
NAME selects some of them. It changes nothing.`,
		Example: `  # The next two weeks of a manifest
  kyklos preview -f config/samples/office-hours.yaml

  # A week with a clock change, in the local time of another zone
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
	options.scalerFlags.bind(flags)
	options.period.bind(flags, "in the schedule's zone or --zone")
	flags.StringVar(&options.zone, "zone", "", "time zone of local times, such as Europe/Berlin; empty is each schedule's own")
	bindChoice(cmd, &options.format, "output", "o", strings.Join(render.Formats, ", "), render.Formats)
	return cmd
}

func (o *previewOptions) run(cmd *cobra.Command, names []string) error {
	out := cmd.OutOrStdout()
	if err := errors.Join(checkChoice("output", o.format, render.Formats), o.check()); err != nil {
		return err
	}
	if o.format == "png" && console.IsTerminal(out) {
		return errors.New("--output: cannot write a PNG to a terminal; redirect it to a file, as in -o png > week.png")
	}
	var zone *time.Location
	if o.zone != "" {
		var err error
		if zone, err = timecalc.LoadZone(o.zone); err != nil {
			return fmt.Errorf("--zone: %w", err)
		}
	}
	scalers, err := o.read(cmd, names)
	if err != nil {
		return err
	}
	timelines, err := o.timelines(scalers, zone, wallclock.Clock.Now())
	if err != nil {
		return err
	}
	follows := func(s *source.Scaler) bool { return schedule.HolidaySource(s.Spec) != "" }
	if o.holidays != "" && !slices.ContainsFunc(scalers, follows) {
		note(cmd.ErrOrStderr(), "--holidays has no effect: none of these schedules follows holidays (spec.holidays)")
	}
	for _, s := range scalers {
		if unknown := s.UnknownHolidays(); o.format == "ics" && unknown != "" { // a calendar has no notes
			note(cmd.ErrOrStderr(), fmt.Sprintf("%s: %s", s.Key(), unknown))
		}
	}
	return render.WriterOf(o.format)(out, timelines, zone)
}

// timelines computes what the schedules do. A date in --from is in zone, or in each schedule's own if it is nil.
func (o *previewOptions) timelines(scalers []*source.Scaler, zone *time.Location, now time.Time) ([]*timeline.Timeline, error) {
	timelines := make([]*timeline.Timeline, len(scalers))
	for i, s := range scalers {
		var err error
		if timelines[i], err = o.timeline(s, cmp.Or(zone, s.Calendar.Zone), now); err != nil {
			return nil, err
		}
	}
	return timelines, nil
}
