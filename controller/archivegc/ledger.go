package archivegc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LedgerName is the ConfigMap in the manager's namespace that remembers stores and unneeded archives.
const LedgerName = "kyklos-archive-gc"

const (
	// maxOrphans bounds the ConfigMap: each takes 14 bytes of a megabyte. Further ones wait until others are deleted.
	maxOrphans = 40_000
	// maxLedger bounds the ConfigMap's data in bytes; the API server accepts a megabyte.
	maxLedger = 900 << 10
	// maxSecrets is how many Secrets of one namespace are remembered for a store.
	maxSecrets = 3
	// forgetAfter is how long a lost store is remembered.
	forgetAfter = 30 * 24 * time.Hour
	// sinceFormat sorts by time, in UTC.
	sinceFormat = "2006-01-02T15:04:05.000000Z07:00"
)

// ledger is the ConfigMap as it was read, and its content.
type ledger struct {
	object *corev1.ConfigMap
	stores map[string]entry // by the store's id
}

// entry is what is remembered about one store.
type entry struct {
	// Address is for people.
	Address string `json:"address"`
	// Secrets gave access to it, as NAMESPACE/NAME.
	Secrets []string `json:"secrets"`
	// LookedAt is when it was last checked without an error.
	LookedAt time.Time `json:"lookedAt"`
	// Orphans are digests of the keys of unneeded archives, by the time since when they are.
	Orphans map[string][]string `json:"orphans,omitempty"`
}

// loadLedger reads the ledger from the API server. Without a ConfigMap it is empty; invalid entries are ignored.
func (c *Collector) loadLedger(ctx context.Context) (ledger, error) {
	l := ledger{object: &corev1.ConfigMap{}, stores: map[string]entry{}}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: LedgerName}, l.object)
	if apierrors.IsNotFound(err) {
		l.object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: LedgerName, Labels: map[string]string{"app.kubernetes.io/managed-by": "kyklos"},
		}}
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("get ConfigMap %s: %w", LedgerName, err)
	}
	for id, text := range l.object.Data {
		var e entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			c.Log.Info("Ignoring an invalid entry; the two hours restart for the archives of this store", "store", id, "error", err.Error())
			continue
		}
		l.stores[id] = e
	}
	return l, nil
}

// saveLedger writes the ledger. After a conflict the next cycle knows nothing about this one.
func (c *Collector) saveLedger(ctx context.Context, l ledger) error {
	data, err := encode(l.stores)
	if err != nil {
		return err
	}
	switch l.object.Data = data; {
	case l.object.ResourceVersion != "":
		err = c.Writer.Update(ctx, l.object, client.FieldOwner(FieldManager))
	case len(data) > 0:
		err = c.Writer.Create(ctx, l.object, client.FieldOwner(FieldManager))
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", LedgerName, err)
	}
	return nil
}

// encode returns the ConfigMap's data. What does not fit is forgotten: stores of the namespaces with the most of them.
func encode(stores map[string]entry) (map[string]string, error) {
	truncate(stores)
	secrets := map[string][]string{}
	for id, e := range stores {
		secrets[id] = e.Secrets
	}
	data, left := map[string]string{}, maxLedger
	for _, id := range inTurn(secrets) {
		text, err := json.Marshal(stores[id])
		if err != nil {
			return nil, fmt.Errorf("encode store %s: %w", id, err)
		}
		if left -= len(id) + len(text); left < 0 {
			break
		}
		data[id] = string(text)
	}
	return data, nil
}

// truncate drops the latest orphans that do not fit into one ConfigMap. No store takes the share of another: the smallest are kept whole.
func truncate(stores map[string]entry) {
	count := func(id string) (sum int) {
		for _, digests := range stores[id].Orphans {
			sum += len(digests)
		}
		return sum
	}
	left := maxOrphans
	smallestFirst := slices.SortedFunc(maps.Keys(stores), func(a, b string) int { return cmp.Or(count(a)-count(b), strings.Compare(a, b)) })
	for i, id := range smallestFirst {
		share := left / (len(smallestFirst) - i)
		for _, since := range slices.Sorted(maps.Keys(stores[id].Orphans)) {
			digests := stores[id].Orphans[since]
			stores[id].Orphans[since] = digests[:min(len(digests), share)]
			share -= len(stores[id].Orphans[since])
			left -= len(stores[id].Orphans[since])
		}
	}
}

// forgetOrphans restarts the two hours of all archives.
func (l *ledger) forgetOrphans() {
	for id, e := range l.stores {
		e.Orphans = nil
		l.stores[id] = e
	}
}

// update records the result of a store.
func (l *ledger) update(r *result, now time.Time) {
	e := l.stores[r.id]
	switch {
	case r.lost:
		if now.Sub(e.LookedAt) > forgetAfter {
			delete(l.stores, r.id)
		}
		return
	case r.err != nil && e.Address == "":
		return // never checked: nothing to remember
	case r.err != nil:
		e.Orphans = nil // the two hours restart
	default:
		e.LookedAt, e.Orphans = now, orphansOf(r.orphans)
	}
	e.Address, e.Secrets = r.address, fewOfEach(slices.Sorted(maps.Keys(r.secrets)))
	l.stores[r.id] = e
	if r.err == nil && !r.referenced && r.all == r.deleted {
		delete(l.stores, r.id) // the store is empty and no longer referenced
	}
	if r.deleted > 0 {
		removeApproval(l.object, r.id)
	}
}

// firstSeen returns since when each of keys is unneeded. The previous check must not be older than one and a half
// intervals: what happened in a missing cycle is unknown.
func (e entry) firstSeen(keys []string, interval time.Duration, now time.Time) map[string]time.Time {
	seen := map[string]time.Time{}
	if now.Before(e.LookedAt) || now.Sub(e.LookedAt) > interval*3/2 {
		return seen
	}
	byDigest := map[string]time.Time{}
	for text, digests := range e.Orphans {
		since, err := time.Parse(sinceFormat, text)
		if err != nil {
			continue // the two hours restart
		}
		for _, digest := range digests {
			byDigest[digest] = since
		}
	}
	for _, key := range keys {
		if since, ok := byDigest[digest(key)]; ok {
			seen[key] = since
		}
	}
	return seen
}

// orphansOf is firstSeen's inverse.
func orphansOf(seen map[string]time.Time) map[string][]string {
	orphans := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		since := seen[key].UTC().Format(sinceFormat)
		orphans[since] = append(orphans[since], digest(key))
	}
	return orphans
}

// digest shortens a key to eleven characters. Two keys with the same digest would only be deleted earlier, never while
// they are needed.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
