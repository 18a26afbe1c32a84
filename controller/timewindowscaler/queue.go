package timewindowscaler

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// wakeQueue gives the watchmen the head of the controller's queue.
type wakeQueue struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (q *wakeQueue) attach(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = queue
	return nil
}

func (q *wakeQueue) wake(keys ...types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue == nil {
		return
	}
	for _, key := range keys {
		request := reconcile.Request{NamespacedName: key}
		if prioritised, ok := q.queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
			prioritised.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(boundaryPriority)}, request)
		} else {
			q.queue.Add(request)
		}
	}
}

// add puts scalers where the controller's own watches would.
func (q *wakeQueue) add(keys ...types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue == nil {
		return
	}
	for _, key := range keys {
		q.queue.Add(reconcile.Request{NamespacedName: key})
	}
}
