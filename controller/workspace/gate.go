package workspace

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/record"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	// believed is how long a claim of our own counts although no cache shows it.
	believed = time.Minute
	// woken is how many of those that wait are looked at when a slot comes free; the others find it by
	// themselves, half a minute later at most.
	woken = 10
)

// Limits bound what goes on at once. They are soft by a claim or two when the leader changes.
type Limits struct {
	// PerOwner and All bound the running workspaces, at least 1.
	PerOwner, All int
	// Movers bounds the operations that move homes, at least 1.
	Movers int
}

// gate counts what goes on. It holds no worker: who may not go on is told so, and called again.
type gate struct {
	options Limits
	cache   client.Reader
	wake    func(...types.NamespacedName)

	mu      sync.Mutex
	taken   map[types.UID]claim
	waiting []types.NamespacedName
}

// claim is an operation that was claimed here, which the cache may not show yet.
type claim struct {
	slot
	id    string
	since time.Time
}

// slot is what a Workspace takes.
type slot struct {
	runs, moves bool
	owner       string
	name        types.NamespacedName
}

// room is what the others leave.
type room struct {
	lifecycle.Limits
	// running are those of the same owner that run or start, in no order.
	running []types.NamespacedName
}

// slotOf is what a Workspace takes in a state. An archiving that waits, for the Pods of others to go,
// takes nothing before its Job has a name.
func slotOf(ws *v1alpha1.Workspace, s *lifecycle.Status, now time.Time) slot {
	o := s.Operation
	moves := o.Type == lifecycle.Restoring || o.Type == lifecycle.Archiving
	idle := o.JobName == "" && o.NextRetryAt.IsZero() && now.Sub(o.StartedAt).Abs() > believed // either way: clocks are set
	return slot{
		runs:  s.Phase == lifecycle.Running || o.Type == lifecycle.Starting,
		moves: moves && !idle, owner: owner(ws), name: client.ObjectKeyFromObject(ws),
	}
}

// owner is whose limit a Workspace counts against.
func owner(ws *v1alpha1.Workspace) string {
	if ws.Spec.Owner != "" {
		return ws.Spec.Owner
	}
	return ws.Namespace
}

// limits tells what the others leave for ws. Only who could claim something is counted for.
func (g *gate) limits(ctx context.Context, ws *v1alpha1.Workspace, s *lifecycle.Status, now time.Time) (room, error) {
	if s.Operation.Type != lifecycle.None && s.Operation.Type != "" || ws.DeletionTimestamp == nil && string(s.Phase) == string(ws.Spec.DesiredState) {
		return room{}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count(ctx, ws, now)
}

// count goes through all Workspaces but ws.
func (g *gate) count(ctx context.Context, ws *v1alpha1.Workspace, now time.Time) (room, error) {
	var all v1alpha1.WorkspaceList
	if err := g.cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return room{}, fmt.Errorf("count what goes on: %w", err)
	}
	slots := map[types.UID]slot{}
	for i := range all.Items {
		other := &all.Items[i]
		status := record.Read(other)
		slots[other.UID] = slotOf(other, &status, now)
		if mine, ok := g.taken[other.UID]; ok && status.Operation.ID == mine.id {
			delete(g.taken, other.UID) // the cache shows it
		}
	}
	for uid, mine := range g.taken {
		if now.Sub(mine.since).Abs() > believed { // either way: clocks are set
			delete(g.taken, uid)
			continue
		}
		slots[uid] = mine.slot
	}
	delete(slots, ws.UID)
	var left room
	var running, moving int
	for _, s := range slots {
		running += one(s.runs)
		moving += one(s.moves)
		if s.runs && s.owner == owner(ws) {
			left.running = append(left.running, s.name)
		}
	}
	left.Limits = lifecycle.Limits{
		OwnerFull: len(left.running) >= g.options.PerOwner, AllFull: running >= g.options.All, MoversFull: moving >= g.options.Movers,
	}
	return left, nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// enter takes the slot of a claim that is about to be written, if it is still free. Else it reports
// what is full.
func (g *gate) enter(ctx context.Context, ws *v1alpha1.Workspace, next *lifecycle.Status, now time.Time) (full room, ok bool, err error) {
	wants := slotOf(ws, next, now)
	g.mu.Lock()
	defer g.mu.Unlock()
	full, err = g.count(ctx, ws, now)
	if err != nil || wants.runs && (full.OwnerFull || full.AllFull) || wants.moves && full.MoversFull {
		return full, false, err
	}
	if g.taken == nil {
		g.taken = map[types.UID]claim{}
	}
	g.taken[ws.UID] = claim{slot: wants, id: next.Operation.ID, since: now}
	return full, true, nil
}

// leave gives back a slot, because its claim could not be written or its operation is over, and calls
// some of those that wait.
func (g *gate) leave(uid types.UID) {
	g.mu.Lock()
	delete(g.taken, uid)
	next := g.waiting[:min(woken, len(g.waiting))]
	g.waiting = slices.Clone(g.waiting[len(next):])
	g.mu.Unlock()
	g.wake(next...)
}

// wait remembers who waits for a slot.
func (g *gate) wait(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.waiting, key) {
		g.waiting = append(g.waiting, key)
	}
}

// gone gives back what a Workspace had that is gone.
func (g *gate) gone(key types.NamespacedName, uid types.UID) {
	g.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other types.NamespacedName) bool { return other == key })
	g.mu.Unlock()
	g.leave(uid)
}
