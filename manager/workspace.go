package manager

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/workspace"
	"kyklos.io/kyklos/internal/wallclock"
)

const (
	// imageVariable tells the manager its own image.
	imageVariable = "KYKLOS_IMAGE"
	// podVariable tells it the name of its Pod, which has the image too.
	podVariable = "POD_NAME"
	// managerContainer is the manager's container in that Pod.
	managerContainer = "manager"
)

// workspaceOptions are the flags about Workspaces.
type workspaceOptions struct {
	serve   bool
	options workspace.Options
}

func defaultWorkspaceOptions() workspaceOptions {
	return workspaceOptions{serve: true, options: workspace.Options{
		Clock: wallclock.Clock, Workers: workspace.DefaultWorkers, Limits: workspace.DefaultLimits,
	}}
}

func (w *workspaceOptions) addFlags(flags *pflag.FlagSet) {
	o := &w.options
	flags.BoolVar(&w.serve, "workspaces", w.serve, "serve Workspaces")
	flags.IntVar(&o.Workers, "workspace-workers", o.Workers, "how many workspaces are looked at at once")
	flags.IntVar(&o.Limits.PerOwner, "workspace-limit-per-owner", o.Limits.PerOwner, "how many workspaces of one owner may run; at least 1")
	flags.IntVar(&o.Limits.All, "workspace-limit", o.Limits.All, "how many workspaces may run in all; at least 1")
	flags.IntVar(&o.Limits.Movers, "mover-limit", o.Limits.Movers, "how many homes may be archived or restored at once; at least 1")
	flags.StringVar(&o.MoverImage, "mover-image", o.MoverImage, "image of the Jobs that archive and restore homes; empty takes that of the manager's own pod")
	flags.BoolVar(&o.Folders, "archive-folders", o.Folders, "allow archives in folders of the manager's own file system; for clusters on one machine")
}

func (w *workspaceOptions) validate() error {
	if !w.serve {
		return nil
	}
	return w.options.Validate()
}

// cacheOptions are what all controllers together keep in memory.
func (o *managerOptions) cacheOptions() cache.Options {
	options := timewindowscaler.CacheOptions(o.namespaces)
	if o.workspaces.serve {
		workspace.CacheOptions(&options)
	}
	return options
}

func addWorkspaces(ctx context.Context, mgr ctrl.Manager, o managerOptions) error {
	if !o.workspaces.serve {
		return nil
	}
	options := o.workspaces.options
	options.NoClasses = len(o.namespaces) > 0
	if options.MoverImage == "" {
		var err error
		if options.MoverImage, err = ownImage(ctx, mgr, o); err != nil {
			mgr.GetLogger().Error(err, "No home can be archived or restored: set --mover-image")
		}
	}
	if err := workspace.SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("set up the workspaces: %w", err)
	}
	return nil
}

// ownImage is the manager's own image: movers are the same program.
func ownImage(ctx context.Context, mgr ctrl.Manager, o managerOptions) (string, error) {
	if image := os.Getenv(imageVariable); image != "" {
		return image, nil
	}
	name := os.Getenv(podVariable)
	if name == "" {
		return "", fmt.Errorf("the manager does not know its own image: neither %s nor %s is set", imageVariable, podVariable)
	}
	if len(o.namespaces) > 0 {
		return "", fmt.Errorf("with --namespaces the manager may not read its own pod, so %s has to be set", imageVariable)
	}
	var pod corev1.Pod
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Namespace: o.ownNamespace(), Name: name}, &pod); err != nil {
		return "", fmt.Errorf("read the manager's own pod: %w", err)
	}
	for _, container := range pod.Spec.Containers {
		if container.Name == managerContainer {
			return container.Image, nil
		}
	}
	return "", fmt.Errorf("the pod %s has no container %s", name, managerContainer)
}
