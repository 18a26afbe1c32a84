package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// schedules is where a command takes TimeWindowScalers from: manifests, or without any a cluster.
type schedules struct {
	kubeconfig.Flags
	files    []string
	holidays string
	all      bool
}

func (s *schedules) bind(flags *pflag.FlagSet) {
	s.Flags.Bind(flags)
	bindFiles(flags, &s.files, "; without it the schedules are those of a cluster")
	flags.StringVar(&s.holidays, "holidays", "", "file of holidays for schedules that follow any: a ConfigMap, or a text with one date on each line")
	flags.BoolVarP(&s.all, "all-namespaces", "A", false, "all namespaces of the cluster")
	flags.Lookup("kubeconfig").Usage = "path of a kubeconfig; empty uses KUBECONFIG; with -f, holidays and state are taken from its cluster"
	flags.Lookup("namespace").Usage = "namespace; with -f that of manifests that name none"
}

// bindFiles adds the flag that names manifests. without says what goes without it.
func bindFiles(flags *pflag.FlagSet, files *[]string, without string) {
	flags.StringArrayVarP(files, "filename", "f", nil, "file or folder of manifests, or - for standard input; can be given more than once"+without)
}

// read returns the schedules of some names, of all if there are none.
func (s *schedules) read(cmd *cobra.Command, names []string) ([]*source.Scaler, error) {
	holidays, err := s.dates()
	if err != nil {
		return nil, err
	}
	var scalers []*source.Scaler
	var problems []*source.Problem
	if len(s.files) > 0 {
		scalers, problems, err = s.fromFiles(cmd, holidays)
	} else {
		scalers, problems, err = s.fromCluster(cmd, names, holidays)
	}
	if err != nil {
		return nil, err
	}
	return s.choose(cmd, scalers, problems, names)
}

// dates are those of --holidays, nil without it.
func (s *schedules) dates() ([]string, error) {
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

// fromFiles reads manifests, and what they leave open from a cluster if one is named.
func (s *schedules) fromFiles(cmd *cobra.Command, holidays []string) ([]*source.Scaler, []*source.Problem, error) {
	if s.all {
		return nil, nil, errors.New("--all-namespaces is for a cluster: leave it out, -f takes all schedules of the files")
	}
	stop := progress(cmd.Context(), cmd.ErrOrStderr(), "Reading the manifests ...")
	defer stop()
	set, err := manifest.Read(s.files, cmd.InOrStdin())
	if err != nil {
		return nil, nil, err
	}
	stop()
	note(cmd, set.Notes...)
	if err := unreadable(cmd, set.Problems); err != nil {
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
	stop = progress(cmd.Context(), cmd.ErrOrStderr(), "Reading holidays and state from the cluster ...")
	defer stop()
	return scalers, problems, source.Complete(cmd.Context(), reader, scalers)
}

func (s *schedules) fromCluster(cmd *cobra.Command, names, holidays []string) ([]*source.Scaler, []*source.Problem, error) {
	reader, namespace, err := s.Reader(cmd.Name())
	if err != nil {
		return nil, nil, fmt.Errorf("%w; to read manifests instead give -f FILE", err)
	}
	if s.all {
		namespace = ""
	}
	stop := progress(cmd.Context(), cmd.ErrOrStderr(), "Reading the cluster ...")
	defer stop()
	scalers, problems, err := source.FromCluster(cmd.Context(), reader, namespace, names, holidays)
	if err == nil && len(scalers)+len(problems) == 0 {
		err = nothingIn(namespace)
	}
	return scalers, problems, err
}

// nothingIn is the error of a namespace without schedules, or of a cluster if it is "".
func nothingIn(namespace string) error {
	if namespace == "" {
		return errors.New("there is no TimeWindowScaler in the cluster, in any namespace")
	}
	return fmt.Errorf("there is no TimeWindowScaler in the namespace %s; -A looks into all", namespace)
}

// choose returns the schedules of some names, of all if there are none, if all of those can be read.
func (s *schedules) choose(cmd *cobra.Command, scalers []*source.Scaler, problems []*source.Problem, names []string) ([]*source.Scaler, error) {
	there := make(map[string]bool)
	unwanted := func(name string) bool {
		there[name] = true
		return len(names) > 0 && !slices.Contains(names, name)
	}
	problems = slices.DeleteFunc(problems, func(p *source.Problem) bool { return unwanted(p.Name.Name) })
	scalers = slices.DeleteFunc(scalers, func(s *source.Scaler) bool { return unwanted(s.Name) })
	for _, name := range names {
		if !there[name] {
			return nil, fmt.Errorf("no TimeWindowScaler %s among those given: leave the name out to see all", name)
		}
	}
	remark(cmd, scalers)
	return scalers, unreadable(cmd, problems)
}

// remark prints what else there is to know of the manifests of scalers.
func remark(cmd *cobra.Command, scalers ...[]*source.Scaler) {
	var all []string
	for _, s := range slices.Concat(scalers...) {
		all = append(all, s.Remarks...)
	}
	note(cmd, all...)
}

// note prints what is good to know and changes nothing, each thing once.
func note(cmd *cobra.Command, texts ...string) {
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			fmt.Fprintln(cmd.ErrOrStderr(), "kyklos: note:", manifest.Printable(text))
		}
	}
}

// unreadable prints problems; the error says how many there are.
func unreadable[P error](cmd *cobra.Command, problems []P) error {
	if len(problems) == 0 {
		return nil
	}
	for _, problem := range problems {
		fmt.Fprintln(cmd.ErrOrStderr(), problem)
	}
	return errors.New("cannot read what is listed above: kyklos lint tells more")
}
