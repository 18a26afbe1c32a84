package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/cli/explain/cluster"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/timecalc"
	"kyklos.io/kyklos/internal/wallclock"
)

type explainOptions struct {
	scalerFlags
	at, format string
}

var explainFormats = []string{"text", "json"}

func newExplainCommand() *cobra.Command {
	options := explainOptions{format: "text"}
	cmd := &cobra.Command{
		ValidArgsFunction: completeScalers,
		Use:               "explain [NAME...] | explain -f FILE... [NAME...]",
		Short:             "Explain why a schedule asks for its current count",
		Long: `Explain why a schedule asks for its current count: which windows cover the time and which do not, holidays,
percentages, metrics and grace periods, and the next changes of the count.

For a TimeWindowScaler in a cluster it also shows what affects the target beside the schedule: a running grace
period, a pause, another field manager that sets the count, and the conditions. With --at, or from files (-f),
it explains the schedule alone. It changes nothing.`,
		Example: `  # Why ten replicas on this Monday morning?
  kyklos explain -f config/samples/office-hours.yaml --at "2026-11-23 10:00"

  # One of several schedules, at an instant in UTC, as JSON
  kyklos explain -f config/samples/follow-the-sun.yaml chat-follow-the-sun --at 2027-03-22T12:30:00Z -o json

  # A schedule in the cluster and its state, now
  kyklos explain webapp-office-hours -n desk`,
		RunE: func(cmd *cobra.Command, names []string) error { return options.run(cmd, names) },
	}
	options.bind(cmd.Flags())
	cmd.Flags().StringVar(&options.at, "at", "", `time to explain: a date, a "date time" in the schedule's zone, or RFC 3339; empty is now`)
	bindChoice(cmd, &options.format, "output", "o", "text or json", explainFormats)
	return cmd
}

func (o *explainOptions) run(cmd *cobra.Command, names []string) error {
	if err := checkChoice("output", o.format, explainFormats); err != nil {
		return err
	}
	read := o.fromCluster
	if len(o.files) > 0 {
		read = o.fromFiles
	}
	explanations, err := read(cmd, names)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.format == "json" {
		return explain.JSON(out, explanations)
	}
	for i, e := range explanations {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := explain.Text(out, e, console.Colours(out)); err != nil {
			return err
		}
	}
	return nil
}

// time is the time to explain. Without an offset it is in zone, or in UTC if that is unknown.
func (o *explainOptions) time(zone string) (time.Time, error) {
	if o.at == "" {
		return wallclock.Clock.Now(), nil
	}
	location, err := timecalc.LoadZone(zone)
	if err != nil {
		location = time.UTC
	}
	at, err := source.ParseTime(o.at, location)
	if err != nil {
		return at, fmt.Errorf("--at: %w", err)
	}
	return at, nil
}

func (o *explainOptions) fromFiles(cmd *cobra.Command, names []string) ([]*explain.Explanation, error) {
	scalers, err := o.read(cmd, names)
	if err != nil {
		return nil, err
	}
	all := make([]*explain.Explanation, len(scalers))
	for i, s := range scalers {
		at, err := o.time(s.Spec.Timezone)
		if err != nil {
			return nil, err
		}
		all[i] = explain.Explain(s.TimeWindowScaler, explain.Holidays{Dates: s.Calendar.Holidays, Missing: s.HolidaysMissing, Unread: s.HolidaysUnread}, nil, at)
	}
	return all, nil
}

// fromCluster explains scalers of a cluster, with their state unless --at is another time.
func (o *explainOptions) fromCluster(cmd *cobra.Command, names []string) ([]*explain.Explanation, error) {
	dates, err := o.holidayDates()
	if err != nil {
		return nil, err
	}
	config, namespace, err := o.Connect(cmd.Name())
	if err != nil {
		return nil, fmt.Errorf("%w; to explain manifests instead, use -f FILE", err)
	}
	reader, err := cluster.New(config)
	if err != nil {
		return nil, err
	}
	if o.allNamespaces {
		namespace = ""
	}
	ctx := cmd.Context()
	defer progress(cmd, "Reading the cluster ...")()
	objects, err := source.Objects(ctx, reader, namespace, names)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, errNoScaler(namespace)
	}
	all := make([]*explain.Explanation, len(objects))
	for i := range objects {
		tws := &objects[i]
		holidays, err := reader.Holidays(ctx, tws, dates)
		if err != nil {
			return nil, err
		}
		var state *explain.State
		if o.at == "" {
			if state, err = reader.State(ctx, tws); err != nil {
				return nil, err
			}
		}
		at, err := o.time(tws.Spec.Timezone) // after reading the state, which is then in the past
		if err != nil {
			return nil, err
		}
		all[i] = explain.Explain(tws, holidays, state, at)
	}
	return all, nil
}
