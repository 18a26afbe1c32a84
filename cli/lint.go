package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/lint/report"
	"kyklos.io/kyklos/cli/lint/ruleset"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/config/crd"
	"kyklos.io/kyklos/internal/buildinfo"
	"kyklos.io/kyklos/internal/kubeconfig"
	"kyklos.io/kyklos/internal/wallclock"
)

// refused is the error of manifests with findings, which have been printed.
type refused struct{}

func (refused) Error() string { return "" }
func (refused) ExitCode() int { return ExitFindings }

// lintOptions are the flags of lint.
type lintOptions struct {
	kubeconfig.Flags
	files, crds, policies []string
	old, oldGit, at       string
	format                report.Format
	warningsAsErrors      bool
}

func newLintCommand() *cobra.Command {
	var options lintOptions
	cmd := &cobra.Command{
		Use:   "lint [-f FILE|DIR|-]... [FILE|DIR]...",
		Short: "Say what the API server would say to manifests, and what they do to each other",
		Long: `Say what the API server with Kyklos would refuse in TimeWindowScalers and Workspaces, and what it would
warn of, without a cluster; and beyond that what the manifests do to each other. Files hold YAML or JSON, also
what kustomize and helm print. Objects of other kinds are not judged, but taken into account.

Exit code 0: nothing is refused. 1: something is (with --warnings-as-errors also if something is warned of).
2: something cannot be read.`,
		Example: `  # What the API server would say to a file
  kyklos lint -f config/samples/office-hours.yaml

  # The same for all that kustomize makes of a folder
  kubectl kustomize config/samples | kyklos lint -f -

  # What a change does to objects that exist already
  kyklos lint -f config/samples/office-hours.yaml --old-git HEAD

  # Against what is in a cluster
  kyklos lint -f config/samples/office-hours.yaml --kubeconfig "$KUBECONFIG"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options.files = append(options.files, args...)
			return options.run(cmd)
		},
	}
	flags := cmd.Flags()
	options.Bind(flags)
	flags.Lookup("namespace").Usage = "namespace of manifests that name none"
	flags.Lookup("kubeconfig").Usage = "path of a kubeconfig: judge against its cluster too"
	flags.Lookup("context").Usage = "context of the kubeconfig: judge against its cluster too"
	bindFiles(flags, &options.files, "")
	flags.VarP(&options.format, "output", "o", report.Usage)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(report.Formats, cobra.ShellCompDirectiveNoFileComp))
	flags.BoolVar(&options.warningsAsErrors, "warnings-as-errors", false, "exit with 1 also if there are no more than warnings")
	flags.StringVar(&options.old, "old", "", "file or folder of what the manifests replace: what was wrong before and is left as it was is not refused")
	flags.StringVar(&options.oldGit, "old-git", "", "revision of the Git repository in which the manifests are as --old has them, such as HEAD or origin/main")
	flags.StringArrayVar(&options.policies, "policy", nil, "file or folder of ValidatingAdmissionPolicies to judge by too; can be given more than once")
	flags.StringArrayVar(&options.crds, "crd", nil, "file or folder of CustomResourceDefinitions to judge by instead of Kyklos's own; can be given more than once")
	flags.StringVar(&options.at, "at", "", `the moment to judge at: a date, a "date time" in UTC, or RFC 3339: it decides which clock changes and holidays lie ahead; empty is now`)
	return cmd
}

func (o *lintOptions) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	set, err := o.read(cmd)
	if err != nil {
		return err
	}
	stop := progress(ctx, cmd.ErrOrStderr(), "Judging the manifests ...")
	defer stop()
	options, err := o.options(ctx, cmd, set)
	if err != nil {
		return err
	}
	result, err := ruleset.Run(ctx, set, options)
	stop()
	if err != nil {
		return err
	}
	note(cmd, result.Notes...)
	how := report.Options{Format: o.format, Colours: colours(cmd.OutOrStdout()), Version: buildinfo.Version()}
	if err := report.Write(cmd.OutOrStdout(), how, result.Findings, result.Summary); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return o.verdict(set, result.Findings)
}

// verdict is the exit code, and what else there is to say.
func (o *lintOptions) verdict(set *manifest.Set, findings []lint.Finding) error {
	if len(set.Problems) > 0 {
		var all []error
		for _, problem := range set.Problems {
			all = append(all, problem)
		}
		return errors.Join(all...)
	}
	bad := func(f lint.Finding) bool { return f.Severity == lint.Error || o.warningsAsErrors }
	if slices.ContainsFunc(findings, bad) {
		return refused{}
	}
	return nil
}

// options reads what the flags name.
func (o *lintOptions) options(ctx context.Context, cmd *cobra.Command, set *manifest.Set) (options ruleset.Options, err error) {
	options = ruleset.Options{Namespace: o.Namespace}
	if options.Now, err = o.now(); err != nil {
		return options, err
	}
	if options.Server, err = o.server(); err != nil {
		return options, err
	}
	if options.Old, err = o.readOld(ctx); err != nil {
		return options, err
	}
	if len(o.policies) > 0 {
		given, err := readWhole("--policy", o.policies)
		if err != nil {
			return options, err
		}
		if options.Policies, err = policy.Load(given.Objects, set.Objects); err != nil {
			return options, err
		}
	}
	if flags := cmd.Flags(); flags.Changed("kubeconfig") || flags.Changed("context") {
		config, namespace, err := o.Connect("lint")
		if err != nil {
			return options, err
		}
		ctrl.SetLogger(logr.Discard()) // what the libraries would log is told in words of ours
		config.QPS = -1                // a person waits, and asks for little
		options.Namespace = namespace
		if options.Cluster, err = ruleset.NewCluster(config, clock.RealClock{}); err != nil {
			return options, err
		}
		return options, options.Cluster.Reach(ctx)
	}
	return options, nil
}

func (o *lintOptions) now() (time.Time, error) {
	if o.at == "" {
		return wallclock.Clock.Now(), nil
	}
	at, err := source.ParseTime(o.at, time.UTC)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at: %w", err)
	}
	return at, nil
}

// server judges by Kyklos's own definitions, or by those of --crd.
func (o *lintOptions) server() (*apiserver.Server, error) {
	server, err := apiserver.New(crd.Bases)
	if err != nil || len(o.crds) == 0 {
		return server, err
	}
	given, err := readWhole("--crd", o.crds)
	if err != nil {
		return nil, err
	}
	isDefinition := func(object *manifest.Object) bool {
		return object.GroupVersionKind().Kind == "CustomResourceDefinition"
	}
	if !slices.ContainsFunc(given.Objects, isDefinition) {
		return nil, fmt.Errorf("--crd: there is no CustomResourceDefinition in %s", strings.Join(o.crds, ", "))
	}
	added := make(map[*manifest.File]bool)
	for _, object := range given.Objects {
		if !added[object.File] {
			added[object.File] = true
			if err := server.Add(object.File); err != nil {
				return nil, fmt.Errorf("--crd: %w", err)
			}
		}
	}
	return server, nil
}
