package kindwatch

import (
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/internal/metrics"
)

// lastsFrom is how long listing may fail, or take, before the scalers of the kind report it.
const lastsFrom = 30 * time.Second

// errNoAnswer is the trouble of a list that has not been answered.
var errNoAnswer = errors.New("the API server has not answered for 30s")

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
	// since is when it began: when the attempt did, or at the first error after the last sign of life.
	since time.Time
	count int
	err   error
	// told: the scalers of the kind were woken for it.
	told bool
}

// lasts reports whether it is worth a report: at the second failure before the kind is listed, and afterwards,
// when what is known still counts, once it has gone on for a while.
func (t *trouble) lasts(listed bool, now time.Time) bool {
	age := now.Sub(t.since)
	switch {
	case listed:
		return t.count > 1 && age >= lastsFrom
	default:
		return t.count > 1 || !t.since.IsZero() && age >= lastsFrom
	}
}

// reported is the error that the scalers of the kind report; nil if there is none.
func (k *kindWatch) reported(now time.Time) error {
	if !k.trouble.lasts(k.reader != nil, now) {
		return nil
	}
	err := k.trouble.err
	if err == nil {
		err = errNoAnswer
	}
	return &UnlistedError{k.kind.GroupVersionKind, err}
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
	w.mu.Unlock()
	metrics.RecordListFailure(gvk, failure.Reason(err))
	w.Log.Error(err, "Cannot list and watch a kind of targets; this is retried", "kind", gvk.Kind, "version", gvk.GroupVersion().String())
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
