package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	// reservedFor is how long a reservation counts that the cache does not show.
	reservedFor = time.Minute
	// wakeAtOnce is how many waiting Workspaces are woken when a slot is free. The others retry within half a minute.
	wakeAtOnce = 10
)

// Limits bound what happens at the same time. They can be exceeded slightly when the leader changes.
type Limits struct {
	// PerOwner, PerNamespace and All bound the running workspaces, at least 1. An owner is free text, so it counts within its
	// namespace: nobody can use up the limits of another one.
	PerOwner, PerNamespace, All int
	// Movers bounds the operations that move homes, at least 1.
	Movers int
}

// reservations count slots. They block no worker: a Workspace without a slot waits in a queue and is woken.
type reservations struct {
	limits Limits
	cache  client.Reader
	wake   func(...types.NamespacedName)

	mu      sync.Mutex
	taken   map[types.UID]reservation
	waiting []types.NamespacedName
	movers  moverQueue
}

// reservation is the slot of an operation that began here and that the cache may not show yet.
type reservation struct {
	slot
	operation lifecycle.Operation
	since     time.Time
}

// shows reports whether a status has the attempt of the reservation. Attempts of an operation share its id.
func (r reservation) shows(s lifecycle.Status) bool {
	return s.Operation.ID == r.operation.ID && s.Operation.AttemptStartedAt.Equal(r.operation.AttemptStartedAt)
}

// slot is what a Workspace takes.
type slot struct {
	runs, moves, restores bool
	owner                 string
	name                  types.NamespacedName
}

// available is what the other Workspaces leave.
type available struct {
	lifecycle.Limits
	// running are the workspaces of the same owner that run or start in the namespace, in no order.
	running []string
}

// slotOf is the slot that a Workspace takes in a state; started is whether its mover's Pod has.
func slotOf(ws *v1alpha1.Workspace, s lifecycle.Status, now time.Time, started bool) slot {
	return slot{
		runs:  s.Phase == lifecycle.Running || s.Operation.Type == lifecycle.Starting,
		moves: s.Operation.HoldsMover(now, started), restores: s.Operation.Type == lifecycle.Restoring,
		owner: owner(ws), name: client.ObjectKeyFromObject(ws),
	}
}

// owner is whose limit in the namespace a Workspace counts against.
func owner(ws *v1alpha1.Workspace) string {
	if ws.Spec.Owner != "" {
		return ws.Spec.Owner
	}
	return ws.Namespace
}

// available returns what the other Workspaces leave for ws. It counts only if ws could start an operation, or an attempt that
// moves its home.
func (r *reservations) available(ctx context.Context, ws *v1alpha1.Workspace, s lifecycle.Status, now time.Time) (available, error) {
	busy := s.Operation.Type != lifecycle.None && s.Operation.Type != ""
	if !busy && ws.DeletionTimestamp == nil && string(s.Phase) == string(ws.Spec.DesiredState) {
		return available{}, nil
	}
	moves := lifecycle.WantsMover(statusconv.Spec(ws, false), s, now)
	if busy && moves == lifecycle.None {
		return available{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count(ctx, ws, moves, now)
}

// count counts the slots of all Workspaces except ws, which wants to move its home by an operation, or by none.
func (r *reservations) count(ctx context.Context, ws *v1alpha1.Workspace, moves lifecycle.OperationType, now time.Time) (available, error) {
	var all v1alpha1.WorkspaceList
	if err := r.cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return available{}, fmt.Errorf("list workspaces: %w", err)
	}
	started, err := r.startedMovers(ctx, moves)
	if err != nil {
		return available{}, err
	}
	slots := map[types.UID]slot{}
	for i := range all.Items {
		other := &all.Items[i]
		status := statusconv.Read(other)
		slots[other.UID] = slotOf(other, status, now, started[moverOf{other.Namespace, string(other.UID)}])
		if own, ok := r.taken[other.UID]; ok && own.shows(status) {
			delete(r.taken, other.UID) // the cache shows it
		}
	}
	for uid, own := range r.taken {
		if now.Sub(own.since).Abs() > reservedFor { // the clock may have been set
			delete(r.taken, uid)
			continue
		}
		slots[uid] = own.slot
	}
	delete(slots, ws.UID)
	var left available
	var inNamespace, running int
	for _, s := range slots {
		if s.runs {
			running++
		}
		if !s.runs || s.name.Namespace != ws.Namespace {
			continue
		}
		inNamespace++
		if s.owner == owner(ws) {
			left.running = append(left.running, s.name.Name)
		}
	}
	left.Limits = lifecycle.Limits{
		OwnerFull: len(left.running) >= r.limits.PerOwner, NamespaceFull: inNamespace >= r.limits.PerNamespace, AllFull: running >= r.limits.All,
	}
	if moves != lifecycle.None {
		r.movers.holding = holders(slots)
		left.MoversFull = !r.movers.mayBegin(r.limits.Movers, ws, moves, now)
	}
	return left, nil
}

// reserve takes the slot of an operation that is about to be written. It reports false if there is none.
func (r *reservations) reserve(ctx context.Context, ws *v1alpha1.Workspace, next lifecycle.Status, now time.Time) (left available, ok bool, err error) {
	wants, moves := slotOf(ws, next, now, false), lifecycle.None
	if wants.moves {
		moves = next.Operation.Type
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	left, err = r.count(ctx, ws, moves, now)
	if err != nil || wants.runs && (left.OwnerFull || left.NamespaceFull || left.AllFull) || wants.moves && left.MoversFull {
		return left, false, err
	}
	if r.taken == nil {
		r.taken = map[types.UID]reservation{}
	}
	r.taken[ws.UID] = reservation{slot: wants, operation: next.Operation, since: now}
	if wants.moves {
		r.movers.begin(ws, wants)
	}
	return left, true, nil
}

// release frees a slot, because its operation was not written or is over, and wakes some waiting Workspaces.
func (r *reservations) release(uid types.UID) {
	r.mu.Lock()
	delete(r.taken, uid)
	delete(r.movers.holding, uid)
	movers := r.movers.next(r.limits.Movers)
	next := r.waiting[:min(wakeAtOnce, len(r.waiting))]
	r.waiting = slices.Clone(r.waiting[len(next):])
	r.mu.Unlock()
	r.wake(slices.Concat(movers, next)...)
}

// queue adds a Workspace that waits for the slot of a running workspace.
func (r *reservations) queue(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.waiting, key) {
		r.waiting = append(r.waiting, key)
	}
}

// forget drops a Workspace that is gone.
func (r *reservations) forget(key types.NamespacedName, uid types.UID) {
	r.mu.Lock()
	r.waiting = slices.DeleteFunc(r.waiting, func(other types.NamespacedName) bool { return other == key })
	maps.DeleteFunc(r.movers.waiting, func(_ types.UID, w waiter) bool { return w.name == key })
	r.mu.Unlock()
	r.release(uid)
}
