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

	"kyklos.io/kyklos/cli/console"
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
		Short: "Validate manifests as the API server would, and check how they affect each other",
		Long: `Validate TimeWindowScalers and Workspaces without a cluster: report what the API server with Kyklos would refuse
or warn about, and how the manifests affect each other. Files are YAML or JSON, including the output of
kustomize and helm. Objects of other kinds are not validated, but taken into account.

Exit code 0: no errors. 1: errors, or warnings with --warnings-as-errors. 2: a manifest cannot be read.`,
		Example: `  # Validate a file
  kyklos lint -f config/samples/office-hours.yaml

  # Validate the output of kustomize
  kubectl kustomize config/samples | kyklos lint -f -

  # Validate a change of existing objects
  kyklos lint -f config/samples/office-hours.yaml --old-git HEAD

  # Validate against the objects of a cluster
  kyklos lint -f config/samples/office-hours.yaml --kubeconfig "$KUBECONFIG"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options.files = append(options.files, args...)
			return options.run(cmd)
		},
	}
	flags := cmd.Flags()
	options.Bind(flags)
	flags.Lookup("namespace").Usage = "namespace of manifests without one"
	flags.Lookup("kubeconfig").Usage = "path of a kubeconfig: also check against its cluster"
	flags.Lookup("context").Usage = "context of the kubeconfig: also check against its cluster"
	bindFiles(flags, &options.files, "")
	flags.VarP(&options.format, "output", "o", report.Usage)
	completeChoice(cmd, "output", report.Formats)
	flags.BoolVar(&options.warningsAsErrors, "warnings-as-errors", false, "exit with 1 if there are only warnings, too")
	flags.StringVar(&options.old, "old", "", "file or folder of the manifests before the change: errors that it does not touch are not reported")
	flags.StringVar(&options.oldGit, "old-git", "", "like --old, but the same paths in a revision of the Git repository, such as HEAD or origin/main")
	flags.StringArrayVar(&options.policies, "policy", nil, "file or folder of ValidatingAdmissionPolicies to evaluate; can be repeated")
	flags.StringArrayVar(&options.crds, "crd", nil, "file or folder of CustomResourceDefinitions to use instead of the built-in ones; can be repeated")
	flags.StringVar(&options.at, "at", "", `time of the validation, for upcoming clock changes and holidays: a date, a "date time" in UTC, or RFC 3339; empty is now`)
	return cmd
}

func (o *lintOptions) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	set, err := o.read(cmd)
	if err != nil {
		return err
	}
	stop := progress(cmd, "Validating the manifests ...")
	defer stop()
	options, err := o.options(cmd, set)
	if err != nil {
		return err
	}
	result, err := ruleset.Run(ctx, set, options)
	stop()
	if err != nil {
		return err
	}
	note(cmd.ErrOrStderr(), result.Notes...)
	how := report.Options{Format: o.format, Colours: console.Colours(cmd.OutOrStdout()), Version: buildinfo.Version()}
	if err := report.Write(cmd.OutOrStdout(), how, result.Findings, result.Summary); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if len(set.Problems) > 0 {
		return joined(set.Problems)
	}
	bad := func(f lint.Finding) bool { return f.Severity == lint.Error || o.warningsAsErrors }
	if slices.ContainsFunc(result.Findings, bad) {
		return findings("") // they have been printed
	}
	return nil
}

func joined[E error](problems []E) error {
	all := make([]error, len(problems))
	for i, problem := range problems {
		all[i] = problem
	}
	return errors.Join(all...)
}

func (o *lintOptions) read(cmd *cobra.Command) (*manifest.Set, error) {
	if len(o.files) == 0 {
		return nil, errors.New("nothing to lint: give files or folders, as in kyklos lint -f config/, or - for standard input")
	}
	set, err := readManifests(cmd, o.files)
	if err != nil {
		return nil, err
	}
	if len(set.Objects)+len(set.Problems) == 0 && slices.Equal(o.files, []string{manifest.Stdin}) {
		return nil, errors.New("standard input has no objects; check the output of the command before the pipe")
	}
	for _, file := range set.Skipped {
		note(cmd.ErrOrStderr(), file.Name+" is not YAML, skipped")
	}
	note(cmd.ErrOrStderr(), set.Notes...)
	return set, nil
}

// options reads the files of flags, and connects to a cluster if there is a flag for one.
func (o *lintOptions) options(cmd *cobra.Command, set *manifest.Set) (options ruleset.Options, err error) {
	options = ruleset.Options{Namespace: o.Namespace, Now: wallclock.Clock.Now()}
	if o.at != "" {
		if options.Now, err = source.ParseTime(o.at, time.UTC); err != nil {
			return options, fmt.Errorf("--at: %w", err)
		}
	}
	server, err := o.server()
	if err != nil {
		return options, err
	}
	options.Server = server.ForKubectl()
	if options.Old, err = o.readOld(cmd.Context()); err != nil {
		return options, err
	}
	if len(o.policies) > 0 {
		given, err := readValid("--policy", o.policies)
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
		ctrl.SetLogger(logr.Discard()) // lint reports errors itself
		config.QPS = -1                // few requests, and the user is waiting
		options.Namespace = namespace
		if options.Cluster, err = ruleset.NewCluster(config, clock.RealClock{}); err != nil {
			return options, err
		}
		return options, options.Cluster.Reach(cmd.Context())
	}
	return options, nil
}

// readOld reads the manifests of --old or --old-git, nil without these flags.
func (o *lintOptions) readOld(ctx context.Context) (*manifest.Set, error) {
	switch {
	case o.old != "" && o.oldGit != "":
		return nil, errors.New("--old and --old-git exclude each other")
	case o.old != "":
		return readValid("--old", []string{o.old})
	case o.oldGit == "":
		return nil, nil
	case slices.Contains(o.files, manifest.Stdin):
		return nil, errors.New("--old-git needs files or folders: standard input has no history")
	}
	set, err := manifest.ReadRevision(ctx, o.oldGit, o.files)
	return valid("--old-git", set, err)
}

// readValid reads the files of a flag, all of which must be valid.
func readValid(flag string, files []string) (*manifest.Set, error) {
	set, err := manifest.Read(files, nil)
	return valid(flag, set, err)
}

func valid(flag string, set *manifest.Set, err error) (*manifest.Set, error) {
	if err == nil && len(set.Problems) > 0 {
		err = set.Problems[0]
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return set, nil
}

// server validates by the built-in definitions, or by those of --crd.
func (o *lintOptions) server() (*apiserver.Server, error) {
	server, err := apiserver.New(crd.Bases)
	if err != nil || len(o.crds) == 0 {
		return server, err
	}
	given, err := readValid("--crd", o.crds)
	if err != nil {
		return nil, err
	}
	isDefinition := func(object *manifest.Object) bool {
		return object.GroupVersionKind().Kind == "CustomResourceDefinition"
	}
	if !slices.ContainsFunc(given.Objects, isDefinition) {
		return nil, fmt.Errorf("--crd: no CustomResourceDefinition in %s", strings.Join(o.crds, ", "))
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
