package storagemigration

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=timewindowscalers.kyklos.io,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions/status,resourceNames=timewindowscalers.kyklos.io,verbs=patch
// +kubebuilder:rbac:groups=storagemigration.k8s.io,resources=storageversionmigrations,verbs=create
// +kubebuilder:rbac:groups=storagemigration.k8s.io,resources=storageversionmigrations,resourceNames=kyklos-timewindowscalers.kyklos.io,verbs=get;delete
// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=list;patch
// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Bounds and defaults of the options that are flags.
const (
	DefaultQPS   = 20
	MaxQPS       = 1000
	DefaultDelay = 10 * time.Second
	MaxDelay     = time.Hour
)

// passTimeout bounds one pass: a page, a batch, or one write.
const passTimeout = time.Minute

// Options are what the manager's flags decide.
type Options struct {
	// Clock is the wall clock.
	Clock clock.PassiveClock
	// Definitions are the names of the CustomResourceDefinitions whose objects are migrated. The RBAC markers
	// above list the same names.
	Definitions []string
	// QPS is the maximum number of objects rewritten per second, from 1 to MaxQPS.
	QPS int
	// Delay is how long a new storage version is left alone before objects are rewritten, from 0 to MaxDelay: the API
	// server's instances learn of it one after the other. The API server allows them 5 s before it sets Established.
	Delay time.Duration
}

// Validate names the flag whose value is invalid.
func (o Options) Validate() error {
	switch {
	case o.QPS < 1 || o.QPS > MaxQPS:
		return fmt.Errorf("--storage-migration-qps: must be from 1 to %d, not %d", MaxQPS, o.QPS)
	case o.Delay < 0 || o.Delay > MaxDelay:
		return fmt.Errorf("--storage-migration-delay: must be from 0s to %s, not %s", MaxDelay, o.Delay)
	}
	return nil
}

// SetupWithManager adds the controller to mgr. It runs only on the leader.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	r, watches, err := newReconciler(mgr.GetConfig(), options)
	if err != nil {
		return fmt.Errorf("create clients: %w", err)
	}
	r.Events = events.NewRecorder(mgr.GetEventRecorder(FieldManager))
	for _, name := range options.Definitions {
		metrics.RecordMigration(name, metrics.Migration{})
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("storagemigration").
		WatchesRawSource(source.Func(watches.start)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 1, // the rate limit is for all definitions together
			ReconciliationTimeout:   passTimeout,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute),
		}).
		Complete(r)
}

func newReconciler(config *rest.Config, options Options) (*Reconciler, watches, error) {
	extensions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	w := watches{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(options.Definitions))) {
		byName := fields.OneTermEqualSelector("metadata.name", name)
		w[name] = cache.NewSharedIndexInformer(cache.NewListWatchFromClient(
			extensions.ApiextensionsV1().RESTClient(), "customresourcedefinitions", "", byName), &definition{}, 0, cache.Indexers{})
	}
	return &Reconciler{
		Watched:     w.get,
		Definitions: extensions.ApiextensionsV1().CustomResourceDefinitions(),
		Migrations:  core.StoragemigrationV1().StorageVersionMigrations(),
		Objects:     objects,
		Clock:       options.Clock,
		QPS:         options.QPS,
		Limiter:     flowcontrol.NewTokenBucketRateLimiter(float32(options.QPS), 1),
		Delay:       options.Delay,
	}, w, nil
}

// watches holds one watch per definition, by name: RBAC with resourceNames allows exactly that, and nothing else is
// cached. The manager does not wait for them: scaling must not depend on a permission that only migration needs.
type watches map[string]cache.SharedIndexInformer

// start runs the watches until ctx ends; each change queues the definition.
func (w watches) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	for name, informer := range w {
		enqueue := func() { queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}) }
		if err := informer.SetTransform(strip); err != nil {
			return fmt.Errorf("watch %s: %w", name, err)
		}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { enqueue() }, UpdateFunc: func(any, any) { enqueue() }, DeleteFunc: func(any) { enqueue() },
		})
		if err != nil {
			return fmt.Errorf("watch %s: %w", name, err)
		}
		go informer.RunWithContext(ctx)
	}
	return nil
}

func (w watches) get(name string) *definition {
	informer, ok := w[name]
	if !ok {
		return nil
	}
	obj, _, _ := informer.GetStore().GetByKey(name) // an in-memory store does not fail
	crd, _ := obj.(*apiextensionsv1.CustomResourceDefinition)
	return crd
}
