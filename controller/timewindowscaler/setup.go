package timewindowscaler

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/targetindex"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/wakequeue"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=get;list;watch
// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments/scale;statefulsets/scale,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

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
	// Kinds tells which further kinds of targets there are; admission may share it.
	Kinds *targetkind.Resolver
	// Namespaces is what to watch, as in CacheOptions.
	Namespaces []string
	// Workers is how many scalers are looked at at once; 0 means 10.
	Workers int
	// Metrics says how windows' metrics are polled; zero means DefaultMetrics.
	Metrics Metrics
	// OnFight says what to do about a rival; empty means FightBackOff.
	OnFight OnFight
}

// SetupWithManager adds the controller, its indexes and its watchmen to mgr.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := fillCaches(ctx, mgr.GetCache()); err != nil {
		return err
	}
	var queue wakequeue.Queue
	wakeFirst := func(keys ...types.NamespacedName) { queue.WakeFirst(boundaryPriority, keys...) }
	probes := time.NewTicker(probeInterval)
	probe, err := readiness(mgr)
	if err != nil {
		return err
	}
	if options.Metrics == (Metrics{}) {
		options.Metrics = DefaultMetrics
	}
	readMetric, err := newMetricReader(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	scales, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for the scale of further kinds: %w", err)
	}
	r := &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Dynamic:   scales,
		Kinds:     options.Kinds,
		Clock:     options.Clock,
		Events:    events.NewRecorder(mgr.GetEventRecorder(FieldManager)),
		Requeue:   options.Requeue,
		outage:    &outage{probe: probe, wake: wakeFirst, ticks: probes.C},
		metrics:   &metricPoller{interval: options.Metrics.Interval, read: readMetric, wake: wakeFirst},
		tolerance: options.Metrics.Tolerance,
		enforce:   options.OnFight == FightEnforce,
	}
	r.watches = r.newKindWatches(mgr, &queue, options)
	for _, watchman := range []manager.Runnable{r.newClockWatch(mgr, &queue, options), r.outage, r.watches, r.metrics} {
		if err := mgr.Add(watchman); err != nil {
			return err
		}
	}
	return r.build(mgr, &queue, options.Workers)
}

// newClockWatch returns what looks at every scaler when the wall clock was stepped (T7).
func (r *Reconciler) newClockWatch(mgr ctrl.Manager, queue *wakequeue.Queue, options Options) *clockWatch {
	seconds := time.NewTicker(time.Second)
	return &clockWatch{
		wall: options.Clock, monotonic: options.Monotonic, ticks: seconds.C,
		log: mgr.GetLogger().WithName("clock"),
		stepped: func(ctx context.Context, _ time.Duration) {
			if keys, err := r.all(ctx); err == nil {
				queue.WakeFirst(boundaryPriority, keys...)
			}
		},
	}
}

func (r *Reconciler) build(mgr ctrl.Manager, queue *wakequeue.Queue, workers int) error {
	if workers == 0 {
		workers = 10
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("timewindowscaler").
		// A status is written by us alone, so only changes of the spec are news.
		For(&v1beta1.TimeWindowScaler{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1beta1.TimeWindowScaler{}, handler.EnqueueRequestsFromMapFunc(r.rivals), builder.WithPredicates(ownershipChanged)).
		Watches(&appsv1.Deployment{}, r.targets(targetkind.Deployment), builder.WithPredicates(targetChanged)).
		Watches(&appsv1.StatefulSet{}, r.targets(targetkind.StatefulSet), builder.WithPredicates(targetChanged)).
		Watches(&appsv1.DaemonSet{}, r.targets(targetkind.DaemonSet), builder.WithPredicates(targetChanged)).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.scalersBy(holidayIndex, objectName)), builder.WithPredicates(keysChanged)).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, handler.EnqueueRequestsFromMapFunc(r.scalersBy(targetindex.Field, scaleTarget)), builder.WithPredicates(scaleTargetChanged)).
		WatchesRawSource(source.Func(queue.Attach)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			// An API server that hangs must not hold a worker for ever.
			ReconciliationTimeout: passTimeout,
			// Reconcile returns its own delays; this one is for panics only, and bounded, where
			// the default grows to 1000 s.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](200*time.Millisecond, 30*time.Second),
		}).
		Complete(r)
}

// targets wakes the scalers of a target of the kind.
func (r *Reconciler) targets(kind targetkind.Kind) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(r.scalersOf(kind.GroupKind()))
}

// newKindWatches makes the watchman of the further kinds.
func (r *Reconciler) newKindWatches(mgr ctrl.Manager, queue *wakequeue.Queue, options Options) *kindWatches {
	logger := mgr.GetLogger().WithName("kinds")
	ctx := log.IntoContext(context.Background(), logger)
	return &kindWatches{
		config: mgr.GetConfig(), http: mgr.GetHTTPClient(), reviews: mgr.GetClient(),
		clock: options.Clock, namespaces: options.Namespaces, log: logger,
		changed: func(kind schema.GroupKind, key types.NamespacedName) {
			queue.Wake(r.find(ctx, kind, client.InNamespace(key.Namespace), client.MatchingFields{targetindex.Field: key.Name})...)
		},
		known: func(gvk schema.GroupVersionKind) {
			r.Kinds.Forget(gvk)
			queue.Wake(r.find(ctx, gvk.GroupKind())...)
		},
	}
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		field  string
		values client.IndexerFunc
	}{
		{&v1beta1.TimeWindowScaler{}, targetindex.Field, targetindex.Values},
		{&v1beta1.TimeWindowScaler{}, holidayIndex, indexHolidaySource},
		{&autoscalingv2.HorizontalPodAutoscaler{}, autoscalerIndex, indexScaleTarget},
	} {
		if err := indexer.IndexField(ctx, index.object, index.field, index.values); err != nil {
			return fmt.Errorf("index %T by %s: %w", index.object, index.field, err)
		}
	}
	return nil
}

// fillCaches asks for what the watches fill too, but on every replica: webhooks read from the caches,
// and all replicas answer them while only the leader watches.
func fillCaches(ctx context.Context, caches cache.Cache) error {
	for _, object := range []client.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &corev1.ConfigMap{}} {
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
		return nil, fmt.Errorf("make a client for /readyz: %w", err)
	}
	return func(ctx context.Context) error {
		return server.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}, nil
}
