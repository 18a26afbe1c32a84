package wakequeue

import (
	"sync"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// timed is a priority queue that keeps delays apart from what is ready. A plain one has one entry for each object, with
// the highest priority that it was added with: an object that waits for its boundary would be handled with the
// boundary's priority, whatever makes it ready before. Here a delay raises the priority when it ends.
type timed struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	mu     sync.Mutex
	timers map[reconcile.Request]*time.Timer
}

func withTimers(queue priorityqueue.PriorityQueue[reconcile.Request]) *timed {
	return &timed{PriorityQueue: queue, timers: map[reconcile.Request]*time.Timer{}}
}

// AddWithOpts adds items now, or when the delay ends. Of several delays of an item the last one counts.
func (q *timed) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	if o.After <= 0 || o.RateLimited {
		q.PriorityQueue.AddWithOpts(o, items...)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, item := range items {
		q.stop(item)
		var timer *time.Timer
		timer = time.AfterFunc(o.After, func() { q.ended(item, timer, ptr.Deref(o.Priority, 0)) })
		q.timers[item] = timer
	}
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *timed) AddAfter(item reconcile.Request, delay time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: delay}, item)
}

// GetWithPriority hands out an item. Its delay ends with that: what handles it decides on the next one.
func (q *timed) GetWithPriority() (item reconcile.Request, priority int, shutdown bool) {
	item, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop(item)
	return item, priority, shutdown
}

// Get implements workqueue.TypedInterface.
func (q *timed) Get() (item reconcile.Request, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// ShutDown implements workqueue.TypedInterface.
func (q *timed) ShutDown() {
	q.PriorityQueue.ShutDown()
	q.mu.Lock()
	defer q.mu.Unlock()
	for item := range q.timers {
		q.stop(item)
	}
}

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *timed) ShutDownWithDrain() { q.ShutDown() }

// stop ends an item's delay without an effect. The lock is held.
func (q *timed) stop(item reconcile.Request) {
	if timer := q.timers[item]; timer != nil {
		timer.Stop()
		delete(q.timers, item)
	}
}

// ended makes an item ready, unless another delay or none has taken the place of the one that ended.
func (q *timed) ended(item reconcile.Request, timer *time.Timer, priority int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timers[item] != timer {
		return
	}
	delete(q.timers, item)
	q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, item)
}
