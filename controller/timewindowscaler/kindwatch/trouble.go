package kindwatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/targetkind"
)

const (
	// lastsFrom is how long watching a listed kind may fail before its scalers report it.
	lastsFrom = 30 * time.Second
	// impatience is how long a list may take before the API server is asked for the reason, and a review of permissions at most.
	impatience = 10 * time.Second
)

// UnlistedError says that a kind's objects cannot be listed, or not be watched.
type UnlistedError struct {
	Kind schema.GroupVersionKind
	Err  error
}

// Error implements error.
func (e *UnlistedError) Error() string {
	return fmt.Sprintf("the objects of kind %s of %s cannot be listed and watched: %v", e.Kind.Kind, e.Kind.GroupVersion(), e.Err)
}

// Unwrap implements errors.Unwrap.
func (e *UnlistedError) Unwrap() error { return e.Err }

// trouble is what keeps a kind from being listed or watched.
type trouble struct {
	// since is when it began: at the first error after the last sign of life.
	since time.Time
	count int
	err   error
	// told: the scalers of the kind were woken for it.
	told bool
}

// lasts reports whether it is worth a report: at the second failure before the kind is listed, and afterwards,
// when what is known still counts, once it has gone on for a while.
func (t *trouble) lasts(listed bool, now time.Time) bool {
	return t.count > 1 && (!listed || now.Sub(t.since) >= lastsFrom)
}

// reported is the error that the scalers of the kind report; nil if there is none.
func (k *kindWatch) reported(now time.Time) error {
	if !k.trouble.lasts(k.reader != nil, now) {
		return nil
	}
	return &UnlistedError{k.kind.GroupVersionKind, k.trouble.err}
}

// askWhy asks the API server for one object while a kind is not listed, because a watch that lists does not end when
// the objects cannot be converted: it has no answer, and no error.
func (w *Watches) askWhy(ctx context.Context, k *kindWatch, kind targetkind.Kind) {
	objects, err := metadata.NewForConfigAndClient(w.Config, w.HTTP)
	if err != nil {
		w.failing(k, fmt.Errorf("create a client: %w", err))
		return
	}
	namespaces := w.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for ticks := time.NewTicker(impatience); ; {
		select {
		case <-ctx.Done():
			ticks.Stop()
			return
		case <-ticks.C:
		}
		for _, namespace := range namespaces {
			bounded, cancel := context.WithTimeout(ctx, impatience)
			_, err := objects.Resource(kind.GroupVersionResource()).Namespace(namespace).List(bounded, metav1.ListOptions{Limit: 1})
			cancel()
			if err != nil && ctx.Err() == nil {
				w.failing(k, err)
				break
			}
		}
	}
}

// isRoutine reports that a watch ended as watches do. The cache starts the next.
func isRoutine(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// failing records an error of the cache of a kind, which tries again by itself.
func (w *Watches) failing(k *kindWatch, err error) {
	if isRoutine(err) {
		return
	}
	w.mu.Lock()
	now, gvk := w.Clock.Now(), k.kind.GroupVersionKind
	if k.trouble.count++; k.trouble.since.IsZero() || k.trouble.since.After(now) {
		k.trouble.since = now
	}
	if k.trouble.err == nil || !failure.SameText(k.trouble.err, err) {
		k.trouble.err = err
	}
	notify := !k.trouble.told && k.reported(now) != nil
	k.trouble.told = k.trouble.told || notify
	count := k.trouble.count
	w.mu.Unlock()
	metrics.RecordListFailure(gvk, failure.Reason(err))
	if count&(count-1) == 0 {
		w.Log.Error(err, "Cannot list and watch a kind of targets; this is retried", "kind", gvk.Kind, "version", gvk.GroupVersion().String(), "failures", count)
	}
	if notify {
		w.Known(gvk)
	}
}

// alive records that a listed kind answers again.
func (w *Watches) alive(k *kindWatch) {
	w.mu.Lock()
	gvk, notify := k.kind.GroupVersionKind, false
	if k.reader != nil {
		notify, k.trouble = k.trouble.told, trouble{}
	}
	w.mu.Unlock()
	if notify {
		w.Known(gvk)
	}
}

// Trouble says why changes of a kind's objects may go unnoticed; nil if they do not.
func (w *Watches) Trouble(gvk schema.GroupVersionKind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.kinds[gvk]; k != nil && k.reader != nil {
		return k.reported(w.Clock.Now())
	}
	return nil
}
