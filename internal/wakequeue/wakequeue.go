// Package wakequeue adds objects to a controller's queue from outside its watches.
package wakequeue

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue is a controller's queue after New, or after Attach, which is a source.Func. Before, Wake does nothing: a controller
// reconciles every object when it starts. It is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// New is for controller.Options.NewQueue. It returns the controller's queue, in which the delay of an object that waits does not
// raise the priority of what makes it ready before, and attaches it.
func (q *Queue) New(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	queue := withTimers(priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }))
	_ = q.Attach(context.Background(), queue)
	return queue
}

// Attach sets the controller's queue.
func (q *Queue) Attach(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = queue
	return nil
}

// Wake adds objects with the priority of the controller's own watches.
func (q *Queue) Wake(keys ...types.NamespacedName) { q.WakeAt(0, keys...) }

// WakeAt adds objects before all with a lower priority, if the queue supports priorities.
func (q *Queue) WakeAt(priority int, keys ...types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range keys {
		request := reconcile.Request{NamespacedName: key}
		switch queue := q.queue.(type) {
		case nil:
		case priorityqueue.PriorityQueue[reconcile.Request]:
			queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, request)
		default:
			queue.Add(request)
		}
	}
}
