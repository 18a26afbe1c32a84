// Package wakequeue lets others than a controller's own watches put objects into its queue.
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

// Queue is a controller's queue once Attach was called, which is a source's Func. Until then, nobody is
// woken: the controller looks at everything when it starts. It is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Attach takes over the controller's queue.
func (q *Queue) Attach(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = queue
	return nil
}

// Wake puts objects where the controller's own watches would.
func (q *Queue) Wake(keys ...types.NamespacedName) {
	q.each(keys, func(queue workqueue.TypedRateLimitingInterface[reconcile.Request], request reconcile.Request) {
		queue.Add(request)
	})
}

// WakeFirst puts objects before all that have a lower priority, where the queue knows of priorities.
func (q *Queue) WakeFirst(priority int, keys ...types.NamespacedName) {
	q.each(keys, func(queue workqueue.TypedRateLimitingInterface[reconcile.Request], request reconcile.Request) {
		if prioritised, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
			prioritised.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, request)
		} else {
			queue.Add(request)
		}
	})
}

func (q *Queue) each(keys []types.NamespacedName, add func(workqueue.TypedRateLimitingInterface[reconcile.Request], reconcile.Request)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue == nil {
		return
	}
	for _, key := range keys {
		add(q.queue, reconcile.Request{NamespacedName: key})
	}
}
