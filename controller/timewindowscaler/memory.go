package timewindowscaler

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// memory keeps what the passes over each scaler tell the next one. Without it, after a crash, the
// stored status counts, and everything that is due still happens.
type memory struct {
	mu      sync.Mutex
	scalers map[types.NamespacedName]*recollection
}

// recollection is one scaler's part. The queue runs one pass over a scaler at a time, so its
// fields need no lock.
type recollection struct {
	// written and scaled are what the API server answered to our last writes. The cache learns of
	// them a little later; until then they are newer than what it holds.
	written *v1beta1.TimeWindowScaler
	scaled  *target
	// live makes the next pass read from the API server, because a conflict showed that the cache
	// is behind.
	live bool
	// held is a status that is decided and not stored yet; see hold.go.
	held *v1beta1.TimeWindowScaler
	// wakeUp is when the last plan wanted the scaler looked at again; retries come no later.
	wakeUp time.Time
	// metric is what the last plan made of the current window's metric.
	metric metricDecision
	// fight is what others did to the count of late.
	fight fight
	// failures counts transient failures since the last success.
	failures int
	// heldSince is when writing the status was first put off; zero if it is not.
	heldSince time.Time
}

func (m *memory) of(key types.NamespacedName) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scalers == nil {
		m.scalers = map[types.NamespacedName]*recollection{}
	}
	if m.scalers[key] == nil {
		m.scalers[key] = &recollection{}
	}
	return m.scalers[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.scalers, key)
}

// reader is the cache, or after a conflict the API server itself.
func (r *Reconciler) reader(mem *recollection) client.Reader {
	if mem.live {
		return r.APIReader
	}
	return r.Client
}

// get reads the scaler: the newer of what the cache holds and what our last status write returned.
func (r *Reconciler) get(ctx context.Context, key types.NamespacedName, mem *recollection) (*v1beta1.TimeWindowScaler, error) {
	tws := &v1beta1.TimeWindowScaler{}
	if err := r.reader(mem).Get(ctx, key, tws); err != nil {
		return nil, err
	}
	if mem.written != nil && olderThan(tws.ResourceVersion, mem.written.ResourceVersion) {
		return mem.written.DeepCopy(), nil
	}
	mem.written = nil
	return tws, nil
}

// newerTarget returns the newer of what was read and what our last write to it returned.
func (m *recollection) newerTarget(read *target) *target {
	if m.scaled != nil && m.scaled.uid == read.uid && olderThan(read.resourceVersion, m.scaled.resourceVersion) {
		return m.scaled
	}
	m.scaled = nil
	return read
}

// olderThan compares resource versions, which grow (KEP-5504); what cannot be compared is taken
// as not older.
func olderThan(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
