package timewindowscaler

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
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
	// written is what the API server returned for our last status write. The cache has it a little later;
	// until then it is newer than the cache.
	written *v1beta1.TimeWindowScaler
	// target is the same for the target. Its Live applies to the scaler too.
	target target.Memory
	// pending is a status that is decided and not stored yet; see pending.go. heldSince is when writing it
	// was first delayed; zero if it is not.
	pending   *v1beta1.TimeWindowScaler
	heldSince time.Time
	// wakeUp is when the last plan wanted the scaler to be reconciled again; retries come no later.
	wakeUp time.Time
	// metric and fight are what the last plan decided about the window's metric and about other writers.
	metric extmetric.Decision
	fight  contention.Fight
	// failures counts transient failures since the last success.
	failures int
}

func (m *memory) of(key types.NamespacedName) *scalerState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scalers == nil {
		m.scalers = map[types.NamespacedName]*scalerState{}
	}
	if m.scalers[key] == nil {
		m.scalers[key] = &scalerState{}
	}
	return m.scalers[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.scalers, key)
}

// get reads the scaler: the newer of what the cache holds and what our last status write returned. After a
// conflict it reads from the API server. The scaler is returned with an *undecodable.Problem, too.
func (r *Reconciler) get(ctx context.Context, key types.NamespacedName, state *scalerState) (*v1beta1.TimeWindowScaler, error) {
	var reader client.Reader = r.Client
	if state.target.Live {
		reader = r.APIReader
	}
	tws := &v1beta1.TimeWindowScaler{}
	if err := reader.Get(ctx, key, tws); err != nil {
		return nil, err
	}
	problem := undecodable.ProblemOf(tws)
	metrics.RecordUndecodable(v1beta1.GroupKind.Kind, key, problem != nil)
	if problem != nil {
		return tws, problem
	}
	if state.written != nil && target.OlderThan(tws.ResourceVersion, state.written.ResourceVersion) {
		return state.written.DeepCopy(), nil
	}
	state.written = nil
	return tws, nil
}
