package timewindowscaler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/kindwatch"
	"kyklos.io/kyklos/controller/timewindowscaler/orphan"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/wakequeue"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=get;list;watch
// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// DefaultWorkers is how many scalers are reconciled at once. Workers mostly wait for the API server, and one lane
// may have half of them.
const DefaultWorkers = 64

// passTimeout bounds one pass over one scaler, two writes at most.
const passTimeout = 30 * time.Second

// Options are what the manager's flags decide.
type Options struct {
	// Clock is the wall clock; Monotonic is the time since some start, which steps of the wall
	// clock do not touch.
	Clock     clock.PassiveClock
	Monotonic func() time.Duration
	// Requeue shapes the wait for the next boundary.
	Requeue Requeue
	// Kinds looks up kinds of targets; admission may share it.
	Kinds *targetkind.Resolver
	// Namespaces is what to watch, as in CacheOptions.
	Namespaces []string
	// Workspaces is where they are served.
	Workspaces targetkind.Scope
	// Workers is how many scalers are reconciled at once; 0 means DefaultWorkers.
	Workers int
	// Metrics says how windows' metrics are polled; zero means extmetric.DefaultOptions.
	Metrics extmetric.Options
	// OnFight is the reaction to a rival; empty means contention.BackOff.
	OnFight contention.OnFight
}

// SetupWithManager adds the controller, its indexes and its background tasks to mgr.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := errors.Join(addIndexes(ctx, mgr.GetFieldIndexer()), fillCaches(ctx, mgr.GetCache())); err != nil {
		return err
	}
	if options.Metrics == (extmetric.Options{}) {
		options.Metrics = extmetric.DefaultOptions
	}
	options.Workers = cmp.Or(options.Workers, DefaultWorkers)
	probe, err := readiness(mgr)
	if err != nil {
		return err
	}
	readMetric, err := extmetric.NewReader(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	dynamicClient, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a dynamic client: %w", err)
	}
	var queue wakequeue.Queue
	wakeFirst := func(keys ...types.NamespacedName) { queue.WakeAt(boundaryPriority, keys...) }
	r := &Reconciler{
		Clients:   target.Clients{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Dynamic: dynamicClient, Kinds: options.Kinds, Workspaces: options.Workspaces},
		Clock:     options.Clock,
		Events:    events.NewRecorder(mgr.GetEventRecorder(target.FieldManager)),
		Requeue:   options.Requeue,
		attempts:  attempts.New(options.Workers, options.Monotonic),
		metrics:   &extmetric.Poller{Interval: options.Metrics.Interval, Read: readMetric, Wake: wakeFirst},
		tolerance: options.Metrics.Tolerance,
		enforce:   options.OnFight == contention.Enforce,
	}
	r.attempts.Probe, r.attempts.Wake, r.attempts.Ticks = probe, wakeFirst, time.NewTicker(attempts.ProbeInterval).C
	r.echoes.wake = wakeFirst
	r.attempts.WakeLast = func(keys ...types.NamespacedName) { queue.WakeAt(reportPriority, keys...) }
	watches := r.newKindWatches(mgr, &queue, options)
	r.Watches, r.namespaces = watches, options.Namespaces
	if err := errors.Join(r.followCache(ctx, mgr.GetCache()), r.watchHolidays(mgr, &queue, options), orphan.SetupWithManager(mgr, options.Clock, scalerChanged)); err != nil {
		return err
	}
	for _, task := range []manager.Runnable{r.newClockWatch(mgr, wakeFirst, options), r.attempts, watches, &r.holidays, r.metrics} {
		if err := mgr.Add(task); err != nil {
			return err
		}
	}
	return r.build(mgr, &queue, options.Workers)
}

// newClockWatch returns the task that reconciles every scaler after a step of the wall clock (T7).
func (r *Reconciler) newClockWatch(mgr ctrl.Manager, wakeFirst func(...types.NamespacedName), options Options) *clockWatch {
	return &clockWatch{
		wall: options.Clock, monotonic: options.Monotonic, ticks: time.NewTicker(time.Second).C,
		log:     mgr.GetLogger().WithName("clock"),
		stepped: func(ctx context.Context, _ time.Duration) { wakeFirst(r.find(ctx, nil)...) },
	}
}

// newKindWatches returns the task that watches kinds that are not in the manager's cache.
func (r *Reconciler) newKindWatches(mgr ctrl.Manager, queue *wakequeue.Queue, options Options) *kindwatch.Watches {
	logger := mgr.GetLogger().WithName("kinds")
	ctx := log.IntoContext(context.Background(), logger)
	return &kindwatch.Watches{
		Config: mgr.GetConfig(), HTTP: mgr.GetHTTPClient(), Reviews: mgr.GetClient(),
		Clock: options.Clock, Namespaces: options.Namespaces, Workspaces: options.Workspaces, Log: logger,
		Changed: func(kind schema.GroupKind, key types.NamespacedName) {
			queue.Wake(r.scalersOf(ctx, kind, key)...)
		},
		Known: func(gvk schema.GroupVersionKind) {
			r.Kinds.Forget(gvk)
			queue.Wake(r.find(ctx, scalesKind(gvk.GroupKind()))...)
		},
	}
}

// watchHolidays prepares the watches of the ConfigMaps with holidays.
func (r *Reconciler) watchHolidays(mgr ctrl.Manager, queue *wakequeue.Queue, options Options) error {
	typed, err := typedcorev1.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a client for ConfigMaps: %w", err)
	}
	ctx := log.IntoContext(context.Background(), mgr.GetLogger().WithName("holidays"))
	r.holidays.Reader, r.holidays.Clock = mgr.GetAPIReader(), options.Clock
	r.holidays.Lister = func(source types.NamespacedName) toolscache.ListerWatcher {
		named := fields.OneTermEqualSelector(metav1.ObjectNameField, source.Name)
		return toolscache.NewListWatchFromClient(typed.RESTClient(), "configmaps", source.Namespace, named)
	}
	r.holidays.Changed = func(source types.NamespacedName) { queue.Wake(r.holidayUsers(ctx, source)...) }
	return nil
}

func (r *Reconciler) build(mgr ctrl.Manager, queue *wakequeue.Queue, workers int) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("timewindowscaler").
		For(&v1beta1.TimeWindowScaler{}, builder.WithPredicates(scalerChanged)).
		Watches(&v1beta1.TimeWindowScaler{}, reconcileAll(r.rivals), builder.WithPredicates(ownershipChanged)).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, reconcileAll(r.autoscaled), builder.WithPredicates(contention.ScaleTargetChanged)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			NewQueue:                queue.New,
			// An API server that hangs must not block a worker forever.
			ReconciliationTimeout: passTimeout,
			// Reconcile returns its own delays; this one is for panics only, and bounded, where
			// the default grows to 1000 s.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](200*time.Millisecond, 30*time.Second),
		})
	target.CachedKinds(func(kind targetkind.Kind, cached target.Cached) {
		scalers := func(ctx context.Context, obj client.Object) []types.NamespacedName {
			return r.scalersOf(ctx, kind.GroupKind(), client.ObjectKeyFromObject(obj))
		}
		b.Watches(cached.Object(), unlessEchoed{reconcileAll(scalers), &r.echoes, cached, scalers}, builder.WithPredicates(targetChanged(cached)))
	})
	return b.Complete(r)
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		values client.IndexerFunc
	}{
		{&v1beta1.TimeWindowScaler{}, targetkind.NameField, targetkind.IndexName},
		{&v1beta1.TimeWindowScaler{}, holidayIndex, indexHolidaySource},
		{&autoscalingv2.HorizontalPodAutoscaler{}, contention.AutoscalerIndex, func(o client.Object) []string { return []string{contention.ScaleTarget(o)} }},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.values); err != nil {
			return fmt.Errorf("index %T by %s: %w", index.object, index.field, err)
		}
	}
	return nil
}

// fillCaches starts the informers that the watches need on every replica: webhooks read from the caches, and
// all replicas answer them while only the leader watches.
func fillCaches(ctx context.Context, caches cache.Cache) error {
	var objects []client.Object
	target.CachedKinds(func(_ targetkind.Kind, kind target.Cached) { objects = append(objects, kind.Object()) })
	for _, object := range objects {
		if _, err := caches.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cache %T: %w", object, err)
		}
	}
	return nil
}

// readiness returns a probe of the API server's /readyz.
func readiness(mgr ctrl.Manager) (func(context.Context) error, error) {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create a client for /readyz: %w", err)
	}
	return func(ctx context.Context) error {
		return server.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}, nil
}
