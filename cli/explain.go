package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/timecalc"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	schedules
	at, format string
}

func newExplainCommand() *cobra.Command {
	options := explainOptions{format: "text"}
	cmd := &cobra.Command{
		ValidArgsFunction: completeScalers,
		Use:               "explain [NAME...] | explain -f FILE... [NAME...]",
		Short:             "Say why a schedule asks for the number that it asks for",
		Long: `Say why a schedule asks for the number that it asks for: each window, and why it covers the moment or not,
holidays, percentages, metrics and grace periods, and the next changes of the count.

Of a TimeWindowScaler in a cluster it also says what comes between the schedule and the target: a running
grace period, a pause, somebody else who sets the count, and what the conditions say. With --at, or from
files (-f), it is the schedule alone. Nothing is changed anywhere.`,
		Example: `  # Why ten replicas on this Monday morning?
  kyklos explain -f config/samples/office-hours.yaml --at "2026-11-23 10:00"

  # One of several schedules, at an instant in UTC, as JSON
  kyklos explain -f config/samples/follow-the-sun.yaml chat-follow-the-sun --at 2027-03-22T12:30:00Z -o json

  # The state of a schedule of the cluster, now
  kyklos explain webapp-office-hours -n desk`,
		RunE: func(cmd *cobra.Command, names []string) error { return options.run(cmd, names) },
	}
	flags := cmd.Flags()
	options.bind(flags)
	flags.StringVar(&options.at, "at", "", `the moment to explain: a date, a "date time" on the schedule's clock, or RFC 3339; empty is now`)
	flags.StringVarP(&options.format, "output", "o", options.format, "text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *explainOptions) run(cmd *cobra.Command, names []string) error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--output: %q is none of text, json", o.format)
	}
	var explanations []*explain.Explanation
	var err error
	if len(o.files) > 0 {
		explanations, err = o.ofFiles(cmd, names)
	} else {
		explanations, err = o.ofCluster(cmd, names)
	}
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.format == "json" {
		return explain.JSON(out, explanations)
	}
	return writeExplanations(out, explanations)
}

func writeExplanations(out io.Writer, explanations []*explain.Explanation) error {
	for i, e := range explanations {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := explain.Text(out, e, colours(out)); err != nil {
			return err
		}
	}
	return nil
}

// moment is the instant to explain, on the clock of a zone, or of UTC if that is not known.
func (o *explainOptions) moment(zone string, now time.Time) (time.Time, error) {
	if o.at == "" {
		return now, nil
	}
	clock, err := timecalc.LoadZone(zone)
	if err != nil {
		clock = time.UTC
	}
	at, err := source.ParseTime(o.at, clock)
	if err != nil {
		return at, fmt.Errorf("--at: %w", err)
	}
	return at, nil
}

func (o *explainOptions) ofFiles(cmd *cobra.Command, names []string) ([]*explain.Explanation, error) {
	scalers, err := o.read(cmd, names)
	if err != nil {
		return nil, err
	}
	all := make([]*explain.Explanation, len(scalers))
	for i, s := range scalers {
		at, err := o.moment(s.Spec.Timezone, time.Now())
		if err != nil {
			return nil, err
		}
		all[i] = explain.Explain(s.TimeWindowScaler, explain.Holidays{Dates: s.Calendar.Holidays, Missing: s.HolidaysMissing, Unread: s.HolidaysUnread}, nil, at)
	}
	return all, nil
}

// ofCluster explains scalers of a cluster, with their state unless another moment than now is asked for.
func (o *explainOptions) ofCluster(cmd *cobra.Command, names []string) ([]*explain.Explanation, error) {
	given, err := o.dates()
	if err != nil {
		return nil, err
	}
	observer, namespace, err := o.observer(cmd)
	if err != nil {
		return nil, fmt.Errorf("%w; to explain manifests instead give -f FILE", err)
	}
	if o.all {
		namespace = ""
	}
	ctx := cmd.Context()
	stop := progress(ctx, cmd.ErrOrStderr(), "Reading the cluster ...")
	defer stop()
	objects, err := source.Objects(ctx, observer.reader, namespace, names)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, nothingIn(namespace)
	}
	all := make([]*explain.Explanation, len(objects))
	for i := range objects {
		if all[i], err = o.explain(cmd, observer, &objects[i], given); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (o *explainOptions) explain(cmd *cobra.Command, observer *observer, tws *v1beta1.TimeWindowScaler, given []string) (*explain.Explanation, error) {
	holidays, err := observer.holidays(cmd.Context(), tws, given)
	if err != nil {
		return nil, err
	}
	var state *explain.State
	if o.at == "" {
		if state, err = observer.state(cmd.Context(), tws); err != nil {
			return nil, err
		}
	}
	at, err := o.moment(tws.Spec.Timezone, time.Now()) // after the state was read, which is then in the past
	if err != nil {
		return nil, err
	}
	return explain.Explain(tws, holidays, state, at), nil
}
