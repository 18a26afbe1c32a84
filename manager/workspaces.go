package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"kyklos.io/kyklos/controller/archivegc"
	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/workspace"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspaceidle"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/steadywatch"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/wallclock"
)

const (
	// imageVariable holds the manager's image.
	imageVariable = "KYKLOS_IMAGE"
	// podVariable holds the name of the manager's pod, which has the image, too.
	podVariable = "POD_NAME"
	// managerContainer is the manager's container in that pod.
	managerContainer = "manager"
)

// workspaceOptions are the flags for Workspaces.
type workspaceOptions struct {
	serve      bool
	namespaces []string
	options    workspace.Options
	gcInterval time.Duration
	endpoints  []string
	loopback   bool
}

func defaultWorkspaceOptions() workspaceOptions {
	return workspaceOptions{serve: true, gcInterval: archivegc.DefaultInterval, options: workspace.Options{
		Clock: wallclock.Clock, Workers: workspace.DefaultWorkers, Limits: workspace.DefaultLimits,
		MoverResources: objects.DefaultMoverResources(), WatcherResources: objects.DefaultWatcherResources(),
	}}
}

func (w *workspaceOptions) addFlags(flags *pflag.FlagSet) {
	o := &w.options
	flags.BoolVar(&w.serve, "workspaces", w.serve, "serve Workspaces; false needs none of their permissions")
	flags.StringSliceVar(&w.namespaces, "workspace-namespaces", w.namespaces, "namespaces in which Workspaces are served, comma separated; empty means all that --namespaces serves")
	flags.IntVar(&o.Workers, "workspace-workers", o.Workers, "number of workspaces that are reconciled at the same time")
	flags.IntVar(&o.Limits.PerOwner, "workspace-limit-per-owner", o.Limits.PerOwner, "maximum number of running workspaces of one owner in one namespace; at least 1")
	flags.IntVar(&o.Limits.PerNamespace, "workspace-limit-per-namespace", o.Limits.PerNamespace, "maximum number of running workspaces in one namespace; at least 1")
	flags.IntVar(&o.Limits.All, "workspace-limit", o.Limits.All, "maximum number of running workspaces; at least 1")
	flags.IntVar(&o.Limits.Movers, "mover-limit", o.Limits.Movers, "maximum number of homes that are archived or restored at the same time; at least 1")
	flags.StringVar(&o.MoverImage, "mover-image", o.MoverImage, "image of the Jobs that archive and restore homes, and of the containers that watch whether workspaces are used; empty uses that of the manager's pod")
	flags.Var(amounts{&o.MoverResources.Requests}, "mover-requests", "what the Jobs that archive and restore homes request; empty requests none")
	flags.Var(amounts{&o.MoverResources.Limits}, "mover-limits", "limits of the Jobs that archive and restore homes; empty sets none; memory must be at least 256Mi, and more for volumes over 300 GiB")
	flags.Var(amounts{&o.WatcherResources.Requests}, "activity-requests", "what the containers that watch whether workspaces are used request; empty requests none")
	flags.Var(amounts{&o.WatcherResources.Limits}, "activity-limits", "limits of these containers; empty sets none; memory must be at least 64Mi")
	flags.BoolVar(&o.Folders, "archive-folders", o.Folders, "allow archives in folders of the manager's file system; for clusters on one machine")
	flags.StringSliceVar(&w.endpoints, "archive-endpoints", w.endpoints, "hosts of the S3 stores that may be called, comma separated: HOST, *.DOMAIN, HOST:PORT, addresses and ranges such as 10.1.0.0/16; empty allows all, and none allows the manager's own machine, link-local addresses and the cloud's metadata")
	flags.BoolVar(&w.loopback, "archive-loopback", w.loopback, "allow S3 stores on the manager's own machine; for clusters on one machine")
	flags.DurationVar(&w.gcInterval, "archive-gc-interval", w.gcInterval, "interval between searches for archives that no workspace needs; from 1m to 24h")
}

func (w *workspaceOptions) validate(served []string) (err error) {
	if w.options.Endpoints, err = endpoints.Parse(w.endpoints, w.loopback); err != nil {
		return err
	}
	if err := (archivegc.Options{Interval: w.gcInterval}).Validate(); err != nil {
		return err
	}
	if !w.serve {
		if len(w.namespaces) > 0 {
			return errors.New("--workspace-namespaces: must be empty with --workspaces=false")
		}
		return nil
	}
	for _, namespace := range w.namespaces {
		if err := validateNamespace("--workspace-namespaces", namespace); err != nil {
			return err
		}
		if len(served) > 0 && !slices.Contains(served, namespace) {
			return fmt.Errorf("--workspace-namespaces: %q must also be in --namespaces", namespace)
		}
	}
	return w.options.Validate()
}

func (w *workspaceOptions) scope() targetkind.Scope {
	return targetkind.Scope{Off: !w.serve, Namespaces: w.namespaces}
}

// namespacesOfWorkspaces are the namespaces in which Workspaces are served; none means all.
func (o *options) namespacesOfWorkspaces() []string {
	return o.workspaces.scope().NamespacesOf(targetkind.Workspace, o.namespaces)
}

// cacheOptions are the cached objects of all controllers.
func (o *options) cacheOptions() cache.Options {
	options := timewindowscaler.CacheOptions(o.namespaces)
	if o.workspaces.serve {
		workspace.CacheOptions(&options, o.namespacesOfWorkspaces())
	}
	logger := o.logger().WithName("cache")
	options.NewInformer = steadywatch.NewInformer(func(err error, failures int) {
		if err != nil && failures&(failures-1) == 0 {
			logger.Error(err, "Cannot list or watch objects; this is retried", "failures", failures)
		}
	})
	return options
}

// addWorkspaces adds the controllers for Workspaces: the reconciler, the idle timers and the archive GC.
func addWorkspaces(ctx context.Context, mgr ctrl.Manager, o options) error {
	if !o.workspaces.serve {
		return nil
	}
	workspaces := o.workspaces.options
	workspaces.NoClasses = len(o.namespacesOfWorkspaces()) > 0
	if workspaces.MoverImage == "" {
		var err error
		if workspaces.MoverImage, err = ownImage(ctx, mgr, o); err != nil {
			mgr.GetLogger().Error(err, "Homes cannot be archived or restored; set --mover-image")
		}
	}
	if err := workspace.SetupWithManager(ctx, mgr, workspaces); err != nil {
		return fmt.Errorf("set up the workspace controller: %w", err)
	}
	if err := workspaceidle.SetupWithManager(mgr, wallclock.Clock); err != nil {
		return fmt.Errorf("set up the idle timers: %w", err)
	}
	err := archivegc.SetupWithManager(mgr, archivegc.Options{
		Clock:      wallclock.Clock,
		Monotonic:  sinceStart(),
		Interval:   o.workspaces.gcInterval,
		Namespace:  o.ownNamespace(),
		Namespaces: o.namespacesOfWorkspaces(),
		Stores:     workspaces.Stores(mgr.GetClient()),
	})
	if err != nil {
		return fmt.Errorf("set up the archive GC: %w", err)
	}
	return nil
}

// ownImage is the manager's image: movers are the same program.
func ownImage(ctx context.Context, mgr ctrl.Manager, o options) (string, error) {
	if image := os.Getenv(imageVariable); image != "" {
		return image, nil
	}
	name := os.Getenv(podVariable)
	if name == "" {
		return "", fmt.Errorf("the manager's image is unknown: neither %s nor %s is set", imageVariable, podVariable)
	}
	var pod corev1.Pod
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Namespace: o.ownNamespace(), Name: name}, &pod); err != nil {
		return "", fmt.Errorf("get the manager's pod: %w", err)
	}
	for _, container := range pod.Spec.Containers {
		if container.Name == managerContainer {
			return container.Image, nil
		}
	}
	return "", fmt.Errorf("pod %s has no container %s", name, managerContainer)
}
