package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// scalerFlags select the TimeWindowScalers of a command: from manifests, or without any from a cluster.
type scalerFlags struct {
	kubeconfig.Flags
	files         []string
	holidays      string
	allNamespaces bool
}

func (s *scalerFlags) bind(flags *pflag.FlagSet) {
	s.Bind(flags)
	bindFiles(flags, &s.files, "; without it the schedules are read from a cluster")
	flags.StringVar(&s.holidays, "holidays", "", "file of holidays for schedules that follow holidays: a ConfigMap, or a text file with a date on each line")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "all namespaces of the cluster")
	flags.Lookup("kubeconfig").Usage = "path of a kubeconfig; empty uses KUBECONFIG; with -f, missing holidays and the state are read from its cluster"
	flags.Lookup("namespace").Usage = "namespace; with -f the namespace of manifests without one"
}

// read returns the schedules with some names, or all.
func (s *scalerFlags) read(cmd *cobra.Command, names []string) ([]*source.Scaler, error) {
	holidays, err := s.holidayDates()
	if err != nil {
		return nil, err
	}
	read := s.fromCluster
	if len(s.files) > 0 {
		read = s.fromFiles
	}
	scalers, problems, err := read(cmd, names, holidays)
	if err != nil {
		return nil, err
	}
	return selectScalers(cmd, scalers, problems, names)
}

// holidayDates are the dates of --holidays, nil without it.
func (s *scalerFlags) holidayDates() ([]string, error) {
	if s.holidays == "" {
		return nil, nil
	}
	data, err := os.ReadFile(s.holidays)
	if err != nil {
		return nil, fmt.Errorf("--holidays: %w", err)
	}
	dates, err := source.HolidayDates(&manifest.File{Name: s.holidays, Data: data})
	if err != nil {
		return nil, fmt.Errorf("--holidays: %w", err)
	}
	return dates, nil
}

// fromFiles reads manifests, and missing holidays and state from a cluster if there is a flag for one.
func (s *scalerFlags) fromFiles(cmd *cobra.Command, _, holidays []string) ([]*source.Scaler, []*source.Problem, error) {
	if s.allNamespaces {
		return nil, nil, errors.New("--all-namespaces is for a cluster; -f already reads all schedules of the files")
	}
	set, err := readManifests(cmd, s.files)
	if err != nil {
		return nil, nil, err
	}
	note(cmd.ErrOrStderr(), set.Notes...)
	if err := printProblems(cmd, set.Problems); err != nil {
		return nil, nil, err
	}
	namespace := s.Namespace
	if namespace == "" {
		namespace = manifest.Default
	}
	scalers, problems := source.FromManifests(set, namespace, holidays)
	if len(scalers)+len(problems) == 0 {
		return nil, nil, fmt.Errorf("no TimeWindowScaler in %s", strings.Join(s.files, ", "))
	}
	if s.Kubeconfig == "" && s.Context == "" {
		return scalers, problems, nil
	}
	reader, _, err := s.Reader(cmd.Name())
	if err != nil {
		return nil, nil, err
	}
	defer progress(cmd, "Reading holidays and state from the cluster ...")()
	return scalers, problems, source.Complete(cmd.Context(), reader, scalers)
}

func (s *scalerFlags) fromCluster(cmd *cobra.Command, names, holidays []string) ([]*source.Scaler, []*source.Problem, error) {
	reader, namespace, err := s.Reader(cmd.Name())
	if err != nil {
		return nil, nil, fmt.Errorf("%w; to read manifests instead, use -f FILE", err)
	}
	if s.allNamespaces {
		namespace = ""
	}
	defer progress(cmd, "Reading the cluster ...")()
	scalers, problems, err := source.FromCluster(cmd.Context(), reader, namespace, names, holidays)
	if err == nil && len(scalers)+len(problems) == 0 {
		err = errNoScaler(namespace)
	}
	return scalers, problems, err
}

// errNoScaler is the error of a namespace without schedules, or of a cluster if it is "".
func errNoScaler(namespace string) error {
	if namespace == "" {
		return errors.New("no TimeWindowScaler in any namespace of the cluster")
	}
	return fmt.Errorf("no TimeWindowScaler in namespace %s; -A searches all namespaces", namespace)
}

// selectScalers returns the schedules with some names, or all, if they are valid.
func selectScalers(cmd *cobra.Command, scalers []*source.Scaler, problems []*source.Problem, names []string) ([]*source.Scaler, error) {
	found := make(map[string]bool)
	unselected := func(name string) bool {
		found[name] = true
		return len(names) > 0 && !slices.Contains(names, name)
	}
	problems = slices.DeleteFunc(problems, func(p *source.Problem) bool { return unselected(p.Name.Name) })
	scalers = slices.DeleteFunc(scalers, func(s *source.Scaler) bool { return unselected(s.Name) })
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("no TimeWindowScaler named %s; without a name all are selected", name)
		}
	}
	printRemarks(cmd, scalers)
	return scalers, printProblems(cmd, problems)
}

// printRemarks prints the remarks about the manifests of scalers.
func printRemarks(cmd *cobra.Command, scalers []*source.Scaler) {
	var all []string
	for _, s := range scalers {
		all = append(all, s.Remarks...)
	}
	note(cmd.ErrOrStderr(), all...)
}

// printProblems prints problems, and returns an error if there are any.
func printProblems[P error](cmd *cobra.Command, problems []P) error {
	for _, problem := range problems {
		fmt.Fprintln(cmd.ErrOrStderr(), problem)
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New("cannot read the manifests listed above; kyklos lint shows more details")
}

// maxDays is the longest period: a year, and some weeks.
const maxDays = 400

type period struct {
	from string
	days int
}

func (p *period) bind(flags *pflag.FlagSet, clock string) {
	flags.StringVar(&p.from, "from", "", `start: a date, a "date time" `+clock+`, or RFC 3339; empty is now`)
	flags.IntVar(&p.days, "days", 14, fmt.Sprintf("number of days, 1 to %d", maxDays))
}

func (p *period) check() error {
	if p.days < 1 || p.days > maxDays {
		return fmt.Errorf("--days: must be from 1 to %d, not %d", maxDays, p.days)
	}
	return nil
}

// timeline computes what a schedule does in the period. Times without an offset are in zone.
func (p *period) timeline(s *source.Scaler, zone *time.Location, now time.Time) (*timeline.Timeline, error) {
	from := now.Truncate(time.Minute).In(zone)
	if p.from != "" {
		var err error
		if from, err = source.ParseTime(p.from, zone); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
	}
	return timeline.Compute(&s.Scaler, from, source.AddDays(from, p.days)), nil
}
