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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/wakequeue"
)

// The permissions for Workspaces are a role of their own, which can be left out. Events are in that of the manager.

// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// +kubebuilder:rbac:groups="",namespace=kyklos-system,resources=pods,verbs=get

// FieldManager is the name under which Kyklos owns what it writes.
const FieldManager = "kyklos"

// passTimeout bounds one pass with the default time limit of a store. It is shorter than the leader's lease: a leader that lost its
// lease does not act after its successor started.
const passTimeout = 2 * store.DefaultTimeout

// DefaultLimits are the default limits (W39, W50).
var DefaultLimits = Limits{PerOwner: 2, PerNamespace: 20, All: 100, Movers: 10}

// DefaultWorkers is the default of Options.Workers (W39).
const DefaultWorkers = 10

// Options are set by the manager's flags.
type Options struct {
	// Clock is the wall clock.
	Clock clock.PassiveClock
	// Workers is the number of concurrent passes, at least 1.
	Workers int
	Limits  Limits
	// MoverImage is the image of movers; empty if it is not known.
	MoverImage string
	// MoverResources are the requests and limits of movers, WatcherResources those of what watches whether workspaces are used.
	MoverResources, WatcherResources corev1.ResourceRequirements
	// Folders allows stores that are folders on the manager's machine.
	Folders bool
	// Endpoints are the S3 stores that may be called.
	Endpoints endpoints.Policy
	// StoreTimeout is how long a store may take to answer; 0 means store.DefaultTimeout.
	StoreTimeout time.Duration
	// NoClasses: the manager has permissions in some namespaces only, and cannot read storage classes.
	NoClasses bool
}

// Validate checks the options and names the flags that set them.
func (o Options) Validate() error {
	for _, flag := range []struct {
		name  string
		value int
	}{
		{"workspace-workers", o.Workers}, {"workspace-limit-per-owner", o.Limits.PerOwner},
		{"workspace-limit-per-namespace", o.Limits.PerNamespace}, {"workspace-limit", o.Limits.All}, {"mover-limit", o.Limits.Movers},
	} {
		if flag.value < 1 {
			return fmt.Errorf("--%s: must be at least 1, not %d", flag.name, flag.value)
		}
	}
	if err := objects.ValidateMoverResources(o.MoverResources); err != nil {
		return err
	}
	return objects.ValidateWatcherResources(o.WatcherResources)
}

// Stores says which stores are allowed.
func (o Options) Stores(api client.Client) connect.Options {
	return connect.Options{Folders: o.Folders, Endpoints: o.Endpoints, Tokens: store.Tokens(api), Now: o.Clock.Now}
}

// SetupWithManager adds the controller to mgr, whose cache must be configured with CacheOptions. It runs on the leader only.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	var queue wakequeue.Queue
	inTurns := turns.New(options.Workers, turns.DefaultLimits, queue.Wake)
	r := &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Store: &store.Client{
			Secrets: mgr.GetAPIReader(), Options: options.Stores(mgr.GetClient()),
			Clock: options.Clock, Timeout: options.StoreTimeout,
		},
		Clock:            options.Clock,
		Events:           events.NewRecorder(mgr.GetEventRecorder(FieldManager)),
		MoverImage:       options.MoverImage,
		MoverResources:   options.MoverResources,
		WatcherResources: options.WatcherResources,
		NoClasses:        options.NoClasses,
		Jitter:           func(d time.Duration) time.Duration { return rand.N(d) },
		reservations:     reservations{limits: options.Limits, cache: mgr.GetClient(), wake: queue.Wake},
	}
	ours := handler.EnqueueRequestsFromMapFunc(workspaceOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("workspace").
		For(&v1alpha1.Workspace{}).
		Watches(&corev1.Pod{}, ours).
		Watches(&corev1.PersistentVolumeClaim{}, ours).
		Watches(&batchv1.Job{}, ours).
		Watches(&corev1.Service{}, ours).
		WatchesRawSource(source.Func(queue.Attach)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: inTurns.Passes(),
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](200*time.Millisecond, 30*time.Second),
		}).
		Complete(inTurn{r, inTurns, max(passTimeout, 2*options.StoreTimeout)})
}
