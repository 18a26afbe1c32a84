package manager

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/controller/archivegc"
	"kyklos.io/kyklos/controller/workspaceidle"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/wallclock"
)

// archiveGCOptions are the flags of the archive GC.
type archiveGCOptions struct {
	interval time.Duration
}

func (a *archiveGCOptions) addFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&a.interval, "archive-gc-interval", a.interval, "time from one look for archives that no workspace needs to the next; from 1m to 24h")
}

func (o *managerOptions) archiveGCOptions() archivegc.Options {
	return archivegc.Options{
		Clock:      wallclock.Clock,
		Monotonic:  sinceStart(),
		Interval:   o.archiveGC.interval,
		Namespace:  o.ownNamespace(),
		Namespaces: o.namespaces,
		Stores:     connect.Options{Folders: o.workspaces.options.Folders},
	}
}

// addHousekeeping adds what watches over Workspaces beside their reconciler: the idle timers, and the
// archive GC.
func addHousekeeping(mgr ctrl.Manager, o managerOptions) error {
	if !o.workspaces.serve {
		return nil
	}
	if err := workspaceidle.SetupWithManager(mgr, wallclock.Clock); err != nil {
		return fmt.Errorf("set up the idle timers: %w", err)
	}
	if err := archivegc.SetupWithManager(mgr, o.archiveGCOptions()); err != nil {
		return fmt.Errorf("set up the archive GC: %w", err)
	}
	return nil
}
