package orphan

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/targetkind"
)

// The permissions are those of DaemonSets as targets.

// passTimeout bounds one pass, three requests at most.
const passTimeout = 30 * time.Second

// SetupWithManager adds the controller to mgr. It needs the index targetkind.NameField, and runs on the leader only.
// scalerChanged passes the updates of TimeWindowScalers that change their spec.
func SetupWithManager(mgr ctrl.Manager, wall clock.PassiveClock, scalerChanged predicate.Predicate) error {
	r := &Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Clock: wall,
		Events: events.NewRecorder(mgr.GetEventRecorder(target.FieldManager)),
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("orphan").
		Watches(&appsv1.DaemonSet{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(concerned)).
		Watches(&v1beta1.TimeWindowScaler{}, handler.EnqueueRequestsFromMapFunc(daemonSetOf), builder.WithPredicates(scalerChanged)).
		WithOptions(controller.Options{
			ReconciliationTimeout: passTimeout,
			RateLimiter:           workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute),
		}).
		Complete(r)
}

// daemonSetOf returns the DaemonSet that a scaler names.
func daemonSetOf(_ context.Context, object client.Object) []reconcile.Request {
	scaler := object.(*v1beta1.TimeWindowScaler)
	ref := scaler.Spec.TargetRef
	if !targetkind.SameTarget(ref, referenceTo(ref.Name)) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: scaler.Namespace, Name: ref.Name}}}
}

// concerned passes DaemonSets that are or were suspended or marked, and deletions.
var concerned = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return concerns(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return changed(e) },
}

func concerns(object client.Object) bool {
	d := object.(*appsv1.DaemonSet)
	return suspended(d) || marked(d)
}

func changed(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*appsv1.DaemonSet), e.ObjectNew.(*appsv1.DaemonSet)
	return suspended(before) != suspended(after) || marked(before) != marked(after)
}
