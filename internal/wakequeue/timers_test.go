package wakequeue

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}}
}

// inABubble runs test on a queue of the controller's, with time that passes by itself.
func inABubble(t *testing.T, test func(*testing.T, priorityqueue.PriorityQueue[reconcile.Request], *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute)
		queue := q.New("timers", limiter).(priorityqueue.PriorityQueue[reconcile.Request])
		defer queue.ShutDown()
		test(t, queue, &q)
	})
}

func expectNext(t *testing.T, queue priorityqueue.PriorityQueue[reconcile.Request], name string, priority int) {
	t.Helper()
	got, at, _ := queue.GetWithPriority()
	if got != request(name) || at != priority {
		t.Errorf("got %s with priority %d, want %s with %d", got.Name, at, name, priority)
	}
	queue.Done(got)
}

// An object that waits for its boundary is handled with the priority of what makes it ready before.
func TestADelayRaisesNoPriority(t *testing.T) {
	inABubble(t, func(t *testing.T, queue priorityqueue.PriorityQueue[reconcile.Request], q *Queue) {
		queue.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, Priority: ptr.To(100)}, request("waits"))
		synctest.Wait()
		q.WakeAt(-200, request("waits").NamespacedName)
		q.Wake(request("other").NamespacedName)
		synctest.Wait()
		expectNext(t, queue, "other", 0)
		expectNext(t, queue, "waits", -200)
	})
}

// When a delay ends, its priority counts, also for what is ready with a lower one.
func TestADelayThatEnds(t *testing.T) {
	inABubble(t, func(t *testing.T, queue priorityqueue.PriorityQueue[reconcile.Request], q *Queue) {
		q.WakeAt(-200, request("due").NamespacedName)
		queue.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, Priority: ptr.To(100)}, request("due"))
		q.Wake(request("other").NamespacedName)
		begin := time.Now()
		time.Sleep(time.Hour)
		synctest.Wait()
		expectNext(t, queue, "due", 100)
		expectNext(t, queue, "other", 0)
		queue.AddAfter(request("due"), time.Minute)
		expectNext(t, queue, "due", 0)
		if took := time.Since(begin); took != time.Hour+time.Minute {
			t.Errorf("handed out after %s", took)
		}
	})
}

// What is handled decides when it is next: earlier delays are void.
func TestDelaysThatAreVoid(t *testing.T) {
	inABubble(t, func(t *testing.T, queue priorityqueue.PriorityQueue[reconcile.Request], q *Queue) {
		queue.AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, request("replaced"))
		queue.AddWithOpts(priorityqueue.AddOpts{After: time.Hour}, request("replaced"))
		queue.AddWithOpts(priorityqueue.AddOpts{After: time.Minute}, request("handled"))
		q.Wake(request("handled").NamespacedName)
		synctest.Wait()
		expectNext(t, queue, "handled", 0)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if ready := queue.Len(); ready != 0 {
			t.Errorf("%d are ready", ready)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if ready := queue.Len(); ready != 1 {
			t.Errorf("%d are ready after the delay that counts", ready)
		}
	})
}

// What failed is delayed by the limiter.
func TestAFailureIsDelayedByTheLimiter(t *testing.T) {
	inABubble(t, func(t *testing.T, queue priorityqueue.PriorityQueue[reconcile.Request], _ *Queue) {
		queue.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: ptr.To(3)}, request("failed"))
		begin := time.Now()
		expectNext(t, queue, "failed", 3)
		if took := time.Since(begin); took != time.Second {
			t.Errorf("handed out after %s", took)
		}
	})
}
