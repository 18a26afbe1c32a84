package workspace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/stores"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/wakequeue"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// FieldManager is the name under which Kyklos owns what it writes.
const FieldManager = "kyklos"

// passTimeout bounds one pass. It is less than a leader's lease lasts: what was decided by one that has
// lost it is not carried out after its successor began.
const passTimeout = 12 * time.Second

// DefaultLimits are the limits' defaults (W39, W50).
var DefaultLimits = Limits{PerOwner: 2, All: 100, Movers: 10}

// DefaultWorkers is how many Workspaces are looked at at once (W39).
const DefaultWorkers = 10

// Options are what the manager's flags decide.
type Options struct {
	// Clock is the wall clock.
	Clock clock.PassiveClock
	// Workers is how many Workspaces are looked at at once, at least 1.
	Workers int
	Limits  Limits
	// MoverImage is the image of movers; "" if it is not known.
	MoverImage string
	// Folders allows stores that are folders of the manager's own machine.
	Folders bool
	// NoClasses: the manager has rights in some namespaces alone, and storage classes are in none.
	NoClasses bool
}

// Validate says what is wrong with the options, in the words of the flags that set them.
func (o Options) Validate() error {
	for _, flag := range []struct {
		name  string
		value int
	}{
		{"workspace-workers", o.Workers}, {"workspace-limit-per-owner", o.Limits.PerOwner},
		{"workspace-limit", o.Limits.All}, {"mover-limit", o.Limits.Movers},
	} {
		if flag.value < 1 {
			return fmt.Errorf("--%s: must be at least 1, not %d", flag.name, flag.value)
		}
	}
	return nil
}

// SetupWithManager adds the controller to mgr, whose cache must have been made with CacheOptions. It runs
// on the leader alone.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	var queue wakequeue.Queue
	r := &Reconciler{
		Client:     mgr.GetClient(),
		APIReader:  mgr.GetAPIReader(),
		Stores:     &stores.Stores{Secrets: mgr.GetAPIReader(), Options: connect.Options{Folders: options.Folders}},
		Clock:      options.Clock,
		Events:     events.NewRecorder(mgr.GetEventRecorder(FieldManager)),
		MoverImage: options.MoverImage,
		NoClasses:  options.NoClasses,
		Jitter:     func(d time.Duration) time.Duration { return rand.N(d) },
		gate:       gate{options: options.Limits, cache: mgr.GetClient(), wake: queue.Wake},
	}
	ours := handler.EnqueueRequestsFromMapFunc(workspaceOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("workspace").
		For(&v1alpha1.Workspace{}).
		Watches(&corev1.Pod{}, ours).
		Watches(&corev1.PersistentVolumeClaim{}, ours).
		Watches(&batchv1.Job{}, ours).
		WatchesRawSource(source.Func(queue.Attach)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Workers,
			ReconciliationTimeout:   passTimeout,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](200*time.Millisecond, 30*time.Second),
		}).
		Complete(r)
}
