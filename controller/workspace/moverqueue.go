package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/moverslots"
)

// waitsFor is how long a Workspace counts as waiting after it last said so. One that waits says so every half minute.
const waitsFor = time.Minute

// moverQueue is who waits for a mover's slot, and who held one at the last count. A new leader begins without the waiting; they
// are all back within half a minute.
type moverQueue struct {
	waiting map[types.UID]waiter
	holding map[types.UID]moverslots.Mover
	served  map[string]int
	turn    int
}

type waiter struct {
	moverslots.Mover
	name types.NamespacedName
	seen time.Time
}

// moverOf identifies the movers of a Workspace.
type moverOf struct{ namespace, uid string }

// startedMovers are the Workspaces whose mover's Pod has started. They are only read if a home is to be moved.
func (r *reservations) startedMovers(ctx context.Context, moves lifecycle.OperationType) (map[moverOf]bool, error) {
	started := map[moverOf]bool{}
	if moves == lifecycle.None {
		return started, nil
	}
	var pods corev1.PodList
	if err := r.cache.List(ctx, &pods, client.MatchingLabels{objects.LabelRole: objects.RoleMover}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list movers: %w", err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; moverStarted(pod) {
			started[moverOf{pod.Namespace, pod.Labels[objects.LabelWorkspaceUID]}] = true
		}
	}
	return started, nil
}

// moverStarted reports whether a Pod is a mover's that has started. One that cannot be scheduled, or whose image cannot be
// pulled, moves nothing.
func moverStarted(pod *corev1.Pod) bool {
	return pod.Labels[objects.LabelRole] == objects.RoleMover && pod.Status.Phase != corev1.PodPending && pod.Status.Phase != ""
}

// slot is the slot that the Workspace takes in a state.
func (o *observation) slot(s lifecycle.Status) slot {
	started := slices.ContainsFunc(o.movers, func(pod corev1.Pod) bool { return moverStarted(&pod) })
	return slotOf(o.ws, s, o.now, started)
}

// holder is a Workspace with this slot.
func (s slot) holder(uid types.UID) moverslots.Mover {
	return moverslots.Mover{ID: string(uid), Namespace: s.name.Namespace, Restores: s.restores}
}

// holders are those who hold a mover's slot.
func holders(slots map[types.UID]slot) map[types.UID]moverslots.Mover {
	all := map[types.UID]moverslots.Mover{}
	for uid, s := range slots {
		if s.moves {
			all[uid] = s.holder(uid)
		}
	}
	return all
}

// mayBegin reports whether it is the turn of ws. The engine decides whether it waits.
func (q *moverQueue) mayBegin(limit int, ws *v1alpha1.Workspace, moves lifecycle.OperationType, now time.Time) bool {
	maps.DeleteFunc(q.waiting, func(_ types.UID, w waiter) bool { return now.Sub(w.seen) > waitsFor })
	own := q.mover(ws, moves, now)
	isOwn := func(m moverslots.Mover) bool { return m.ID == own.ID }
	slots := q.slots(limit)
	slots.Waiting = append(slices.DeleteFunc(slots.Waiting, isOwn), own)
	return slices.ContainsFunc(slots.Next(), isOwn)
}

// mover is ws as one who waits, since the first time.
func (q *moverQueue) mover(ws *v1alpha1.Workspace, moves lifecycle.OperationType, now time.Time) moverslots.Mover {
	since := now
	if before, known := q.waiting[ws.UID]; known {
		since = before.Since
	}
	return moverslots.Mover{ID: string(ws.UID), Namespace: ws.Namespace, Restores: moves == lifecycle.Restoring, Since: since}
}

// wait notes that ws waits.
func (q *moverQueue) wait(ws *v1alpha1.Workspace, moves lifecycle.OperationType, now time.Time) {
	if q.waiting == nil {
		q.waiting = map[types.UID]waiter{}
	}
	q.waiting[ws.UID] = waiter{Mover: q.mover(ws, moves, now), name: client.ObjectKeyFromObject(ws), seen: now}
}

// begin notes that ws takes a slot.
func (q *moverQueue) begin(ws *v1alpha1.Workspace, s slot) {
	delete(q.waiting, ws.UID)
	q.holding[ws.UID] = s.holder(ws.UID)
	if q.served == nil {
		q.served = map[string]int{}
	}
	q.turn++
	q.served[ws.Namespace] = q.turn
	relevant := map[string]bool{ws.Namespace: true}
	for _, w := range q.waiting {
		relevant[w.Namespace] = true
	}
	for _, m := range q.holding {
		relevant[m.Namespace] = true
	}
	maps.DeleteFunc(q.served, func(namespace string, _ int) bool { return !relevant[namespace] })
}

// next are the names of those whose turn it is.
func (q *moverQueue) next(limit int) []types.NamespacedName {
	var names []types.NamespacedName
	for _, m := range q.slots(limit).Next() {
		names = append(names, q.waiting[types.UID(m.ID)].name)
	}
	return names
}

func (q *moverQueue) slots(limit int) moverslots.Slots {
	s := moverslots.Slots{Limit: limit, Holding: slices.Collect(maps.Values(q.holding)), Served: q.served}
	for _, w := range q.waiting {
		s.Waiting = append(s.Waiting, w.Mover)
	}
	return s
}

// awaitMover notes whether a Workspace waits for a mover's slot.
func (r *reservations) awaitMover(p plan) {
	moves := lifecycle.WantsMover(p.spec, p.decision.Status, p.now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.decision.Code == lifecycle.CodeMoversFull && moves != lifecycle.None {
		r.movers.wait(p.ws, moves, p.now)
	} else {
		delete(r.movers.waiting, p.ws.UID)
	}
}
