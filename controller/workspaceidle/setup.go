package workspaceidle

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/events"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces/status,verbs=update
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get

// FieldManager owns spec.desiredState in managedFields when this controller writes it.
const FieldManager = "kyklos-ttl"

const (
	// workers is the number of concurrent passes. A pass is a few requests at most.
	workers = 4
	// passTimeout bounds one pass.
	passTimeout = 30 * time.Second
)

// SetupWithManager adds the controller to mgr. It runs only on the leader.
func SetupWithManager(mgr ctrl.Manager, wall clock.PassiveClock) error {
	r := &Reconciler{
		Client: mgr.GetClient(),
		Live:   mgr.GetAPIReader(),
		Clock:  wall,
		Events: events.NewRecorder(mgr.GetEventRecorder(FieldManager)),
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("workspaceidle").
		For(&v1alpha1.Workspace{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			ReconciliationTimeout:   passTimeout,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute),
		}).
		Complete(r)
}
