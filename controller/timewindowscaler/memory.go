package timewindowscaler

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// memory keeps what the passes over each scaler tell the next one. All of it may be lost: it saves
// requests, and no decision rests on it.
type memory struct {
	mu      sync.Mutex
	scalers map[types.NamespacedName]*recollection
}

// recollection is one scaler's part. The queue runs one pass over a scaler at a time, so its
// fields need no lock.
type recollection struct {
	// written and scaled are what the API server answered to our last writes. The cache learns of
	// them a little later; until then they are newer than what it holds.
	written *v1alpha1.TimeWindowScaler
	scaled  *target
	// live makes the next pass read from the API server, because a conflict showed that the cache
	// is behind.
	live bool
	// unreported is a scale time that no status carries yet.
	unreported *metav1.Time
	// wakeUp is when the last plan wanted the scaler looked at again; retries come no later.
	wakeUp time.Time
	// failures counts transient failures since the last success.
	failures int
	// heldSince is when a status was first held back; zero if none is.
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
func (r *Reconciler) get(ctx context.Context, key types.NamespacedName, mem *recollection) (*v1alpha1.TimeWindowScaler, error) {
	tws := &v1alpha1.TimeWindowScaler{}
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

// statusHold is how long a status waits for the target to arrive, so that neither a flip nor a
// rollout of many pods writes it more often than it has something to say.
const statusHold = time.Second

// holdsBack reports whether writing the status can wait, and remembers since when it waits: while
// the target is on its way after our write, and while nothing but its count changes. After a refusal
// nothing waits: the pass that would write it comes with the back-off only.
func (m *recollection) holdsBack(pass *situation, next *v1alpha1.TimeWindowScalerStatus) bool {
	underWay := m.unreported != nil && !pass.aligned() && pass.outcome.target != nil
	if pass.outcome.refused != nil || !underWay && !onlyCountDiffers(&pass.tws.Status, next) {
		m.heldSince = time.Time{}
		return false
	}
	if m.heldSince.IsZero() || m.heldSince.After(pass.now) {
		m.heldSince = pass.now
	}
	if pass.now.Sub(m.heldSince) < statusHold {
		return true
	}
	m.heldSince = time.Time{}
	return false
}

func onlyCountDiffers(last, next *v1alpha1.TimeWindowScalerStatus) bool {
	if last.TargetObservedReplicas == nil || next.TargetObservedReplicas == nil ||
		*last.TargetObservedReplicas == *next.TargetObservedReplicas {
		return false
	}
	counted := next.DeepCopy()
	counted.TargetObservedReplicas = last.TargetObservedReplicas
	return equality.Semantic.DeepEqual(last, counted)
}
