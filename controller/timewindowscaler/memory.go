package timewindowscaler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/newest"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/undecodable"
)

// memory keeps the state of each scaler from pass to pass. Without it, after a crash, the stored status
// counts, and everything that is due still happens.
type memory struct {
	mu      sync.Mutex
	scalers map[types.NamespacedName]*scalerState
}

// scalerState is what is remembered of one scaler. The queue runs one pass over a scaler at a time, so its
// fields need no lock.
type scalerState struct {
	// scaler and target are the newest states of the two objects that are known.
	scaler *newest.Object[*v1beta1.TimeWindowScaler]
	target target.Memory
	// refused is what the schema refuses in the spec.
	refused refusedSpec
	// unstored is the status that the last pass decided, if it could not be stored or has to wait for its turn, and
	// unpublished are the events of this and earlier passes that have to.
	unstored    unstoredStatus
	unpublished unpublished
	// wakeUp is when the last plan wanted the scaler to be reconciled again; retries come no later.
	wakeUp time.Time
	// graceSince is when the grace period that runs began.
	graceSince time.Time
	// metric and fight are what the last plan decided about the window's metric and about other writers.
	metric extmetric.Decision
	fight  contention.Fight
	// claim is what was last seen of another owner of the target.
	claim contention.Claim
	// overdue is the boundary that made a write due that was not made.
	overdue time.Time
	// noticed is the stop that the user of a Workspace was told of.
	noticed time.Time
}

func (m *memory) of(key types.NamespacedName) *scalerState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scalers == nil {
		m.scalers = map[types.NamespacedName]*scalerState{}
	}
	if m.scalers[key] == nil {
		m.scalers[key] = &scalerState{scaler: &newest.Object[*v1beta1.TimeWindowScaler]{}}
	}
	return m.scalers[key]
}

// forget drops all but the knowledge that the scaler is gone, if the cache still has it.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if state := m.scalers[key]; state != nil && state.scaler.Ahead() {
		m.scalers[key] = &scalerState{scaler: state.scaler}
		return
	}
	delete(m.scalers, key)
}

// caughtUp lets go of the copy of a scaler that the cache has by now.
func (m *memory) caughtUp(cached *v1beta1.TimeWindowScaler) {
	m.mu.Lock()
	state := m.scalers[client.ObjectKeyFromObject(cached)]
	m.mu.Unlock()
	if state != nil {
		state.scaler.CaughtUp(asSeen(cached))
	}
}

// wrote keeps what the API server answered to a write until the cache has it, which may be so already.
func (r *Reconciler) wrote(ctx context.Context, tws *v1beta1.TimeWindowScaler, state *scalerState) {
	state.scaler.Answered(asSeen(tws))
	cached := &v1beta1.TimeWindowScaler{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(tws), cached, client.UnsafeDisableDeepCopy); err == nil {
		state.scaler.CaughtUp(asSeen(cached))
	}
}

// followCache calls caughtUp for each scaler that the cache takes in.
func (r *Reconciler) followCache(ctx context.Context, caches cache.Cache) error {
	informer, err := caches.GetInformer(ctx, &v1beta1.TimeWindowScaler{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cache TimeWindowScalers: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, after any) {
		if tws, ok := after.(*v1beta1.TimeWindowScaler); ok {
			r.memory.caughtUp(tws)
		}
	}})
	return err
}

// get returns the newest known state of the scaler, or nil if it is gone. It comes with an *undecodable.Problem if parts of
// it are missing, unless it is being deleted.
func (r *Reconciler) get(ctx context.Context, key types.NamespacedName, state *scalerState, now time.Time) (*v1beta1.TimeWindowScaler, error) {
	r.catchUp(ctx)
	found, err := state.scaler.Read(now, readScaler(ctx, r.Client, key), func() (newest.State[*v1beta1.TimeWindowScaler], error) {
		work := attempts.ID{Scaler: key, Work: attempts.ReadScaler}
		return attempts.Do(ctx, r.attempts, work, statusLane(key), attempts.Cause{}, func(ctx context.Context) (newest.State[*v1beta1.TimeWindowScaler], error) {
			return readScaler(ctx, r.APIReader, key)()
		})
	})
	if err != nil || found.UID == "" {
		return nil, err
	}
	tws, problem := found.Value.DeepCopy(), undecodable.ProblemOf(found.Value)
	if tws.DeletionTimestamp != nil {
		return tws, nil
	}
	metrics.RecordUndecodable(v1beta1.GroupKind.Kind, key, problem != nil)
	if problem != nil {
		return tws, problem
	}
	return tws, nil
}

// readScaler returns the scaler without a copy, if the reader has it in a cache.
func readScaler(ctx context.Context, reader client.Reader, key types.NamespacedName) newest.Source[*v1beta1.TimeWindowScaler] {
	return func() (newest.State[*v1beta1.TimeWindowScaler], error) {
		tws := &v1beta1.TimeWindowScaler{}
		if err := reader.Get(ctx, key, tws, client.UnsafeDisableDeepCopy); err != nil {
			return newest.State[*v1beta1.TimeWindowScaler]{}, client.IgnoreNotFound(err)
		}
		return asSeen(tws), nil
	}
}

func asSeen(tws *v1beta1.TimeWindowScaler) newest.State[*v1beta1.TimeWindowScaler] {
	return newest.State[*v1beta1.TimeWindowScaler]{UID: tws.UID, ResourceVersion: tws.ResourceVersion, Value: tws}
}

// doubt makes the next pass read both objects from the API server.
func (s *scalerState) doubt() {
	s.scaler.Doubt()
	s.target.Doubt()
}

// untilAsked shortens the wait for the next pass to when the API server has to be asked, because the cache
// has not caught up.
func (s *scalerState) untilAsked(result reconcile.Result, now time.Time) reconcile.Result {
	for _, at := range []time.Time{s.scaler.AskAt(), s.target.AskAt()} {
		if wait := at.Sub(now); !at.IsZero() && (result.RequeueAfter == 0 || wait < result.RequeueAfter) {
			result = after(wait)
		}
	}
	return result
}
