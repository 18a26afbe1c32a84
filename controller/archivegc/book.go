package archivegc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BookName is the ConfigMap in the manager's namespace that remembers stores and archives.
const BookName = "kyklos-archive-gc"

const (
	// mostOrphans bounds the ConfigMap: each takes 14 bytes of a megabyte. Those beyond it wait until
	// others are deleted.
	mostOrphans = 40_000
	// forgetAfter is how long a store that nothing leads to any more is remembered.
	forgetAfter = 30 * 24 * time.Hour
	// sinceForm is how times are written: in the order of time, if they are in UTC.
	sinceForm = "2006-01-02T15:04:05.000000Z07:00"
)

// book is the ConfigMap as it was read, and what it says.
type book struct {
	object *corev1.ConfigMap
	stores map[string]entry // by the store's id
}

// entry is what is remembered of one store.
type entry struct {
	// Address is where it is, for people.
	Address string `json:"address"`
	// Secrets have led to it, as NAMESPACE/NAME.
	Secrets []string `json:"secrets"`
	// LookedAt is when the last look at it ended well.
	LookedAt time.Time `json:"lookedAt"`
	// Orphans are digests of the keys of archives that nobody needs, by the time since when.
	Orphans map[string][]string `json:"orphans,omitempty"`
}

// load reads the book from the API server; one that is not there is empty. An entry that cannot be read
// is as one that is not there: what it knew begins anew.
func (c *Collector) load(ctx context.Context) (book, error) {
	b := book{object: &corev1.ConfigMap{}, stores: map[string]entry{}}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: BookName}, b.object)
	if apierrors.IsNotFound(err) {
		b.object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: BookName, Labels: map[string]string{"app.kubernetes.io/managed-by": "kyklos"},
		}}
		return b, nil
	}
	if err != nil {
		return b, fmt.Errorf("read the ConfigMap %s: %w", BookName, err)
	}
	for id, text := range b.object.Data {
		var e entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			c.Log.Info("What was remembered of a store cannot be read; it begins anew", "store", id, "error", err.Error())
			continue
		}
		b.stores[id] = e
	}
	return b, nil
}

// save writes the book if it says something new. Who else has written it since wins: then the next cycle
// knows nothing of this one.
func (c *Collector) save(ctx context.Context, b book) error {
	data := map[string]string{}
	bound(b.stores)
	for id, e := range b.stores {
		text, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write down the store %s: %w", id, err)
		}
		data[id] = string(text)
	}
	var err error
	switch b.object.Data = data; {
	case b.object.ResourceVersion != "":
		err = c.Writer.Update(ctx, b.object, client.FieldOwner(FieldManager))
	case len(data) > 0:
		err = c.Writer.Create(ctx, b.object, client.FieldOwner(FieldManager))
	}
	if err != nil {
		return fmt.Errorf("write the ConfigMap %s: %w", BookName, err)
	}
	return nil
}

// bound leaves out the latest orphans that are too many for one ConfigMap.
func bound(stores map[string]entry) {
	left := mostOrphans
	for _, id := range slices.Sorted(maps.Keys(stores)) {
		for _, since := range slices.Sorted(maps.Keys(stores[id].Orphans)) {
			digests := stores[id].Orphans[since]
			stores[id].Orphans[since] = digests[:min(len(digests), left)]
			left -= len(stores[id].Orphans[since])
		}
	}
}

// forgetOrphans lets the two hours of all archives begin anew.
func (b *book) forgetOrphans() {
	for id, e := range b.stores {
		e.Orphans = nil
		b.stores[id] = e
	}
}

// firstSeen says since when each of keys is not needed. The look before must not have been longer ago
// than one and a half intervals: what happened in one that is missing, nobody knows.
func (e entry) firstSeen(keys []string, interval time.Duration, now time.Time) map[string]time.Time {
	seen := map[string]time.Time{}
	if now.Before(e.LookedAt) || now.Sub(e.LookedAt) > interval*3/2 {
		return seen
	}
	byDigest := map[string]time.Time{}
	for text, digests := range e.Orphans {
		since, err := time.Parse(sinceForm, text)
		if err != nil {
			continue // it begins anew
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

// remember is firstSeen's inverse.
func remember(seen map[string]time.Time) map[string][]string {
	orphans := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		since := seen[key].UTC().Format(sinceForm)
		orphans[since] = append(orphans[since], digest(key))
	}
	return orphans
}

// digest is eleven characters for a key. Two keys that share one would only be deleted earlier, never
// while they are needed.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
