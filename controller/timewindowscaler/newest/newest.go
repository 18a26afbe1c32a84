// Package newest decides which state of an object a controller believes: the cache's, or a newer one that it
// has read from the API server or written itself.
//
// A cache follows the API server some time later, usually by milliseconds. A controller that has seen a newer
// state must not return to the cache's older one, or it would undo what it did because of the newer one. The
// rules:
//
//   - An answer of the API server, to a write or to a read past the cache, is the truth. It replaces what was
//     known, even if its resourceVersion is lower: that is so after etcd was restored from a backup.
//   - The cache is believed as soon as it is not older than what is known. Until then the known state counts.
//     Versions are compared by resourceVersion, also between objects of the same name with different UIDs. An
//     object that is known to be gone does not come back under its UID.
//   - The API server is asked, with one read past the cache,
//     after a write that was refused because the object has changed or is gone (Doubt);
//     if the cache is older than what it was before;
//     if nobody can tell which is newer: the cache has no object while a newer one is known than it had, or the
//     versions cannot be compared;
//     and if the cache stays behind for some seconds, then again at growing intervals until it has caught up.
//
// What is known may be lost at any time, as after a crash: then the cache is believed.
package newest

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// patience is how long the cache may stay behind before the API server is asked. The interval doubles up
	// to longestPatience, because many objects may be behind for as long as a watch is broken.
	patience        = 5 * time.Second
	longestPatience = 5 * time.Minute
)

// State is one state of an object; its UID is "" if there is no object.
type State[T any] struct {
	UID             types.UID
	ResourceVersion string
	Value           T
}

// Source reads a state.
type Source[T any] func() (State[T], error)

// Object is what is known of one object. The zero value knows nothing. One pass at a time uses it; CaughtUp may be called
// meanwhile.
type Object[T any] struct {
	// VersionsOnly: the cache has no values, so that each new version costs a read past it.
	VersionsOnly bool

	// mu guards what follows. It is not held while the API server is asked.
	mu sync.Mutex
	// last is the newest state of an object that is known. Its value is kept as long as the cache does not
	// have it. gone: that object has been deleted.
	last State[T]
	gone bool
	// ahead: the API server answered so, and the cache has not caught up yet.
	ahead   bool
	doubted bool
	// had: the cache has had the object in last.
	had bool
	// void is the highest resourceVersion that was known before versions moved back. Until the cache has moved
	// back too, nobody can tell which of the two times its versions up to void are from.
	void string
	// askAt is when the API server is asked if the cache is still behind; zero if it is not. wait is the
	// interval before it.
	askAt time.Time
	wait  time.Duration
}

// Read returns the state to believe.
func (o *Object[T]) Read(now time.Time, cache, server Source[T]) (State[T], error) {
	cached, believed, err := o.readCache(now, cache)
	if believed || err != nil {
		return cached, err
	}
	answer, err := server()
	if err != nil {
		return answer, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered(answer)
	switch {
	case cached.UID != "" && cached.UID == answer.UID && cached.ResourceVersion == answer.ResourceVersion:
		o.follow(cached)
	case o.compare(cached) == behind:
		o.patient(now) // when to ask again
	}
	return answer, nil
}

// readCache returns the cache's state, or if that is known the newer one. believed is false if the API server has to be
// asked.
func (o *Object[T]) readCache(now time.Time, cache Source[T]) (state State[T], believed bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	cached, err := cache()
	if err != nil {
		return cached, false, err
	}
	o.see(cached)
	relation := o.compare(cached)
	switch {
	case o.doubted:
	case relation == current && o.hasValue(cached):
		return o.follow(cached), true, nil
	case relation == behind && o.ahead && o.patient(now):
		return o.known(), true, nil
	}
	return cached, false, nil
}

// Answered takes what the API server answered to a write or to a read past the cache.
func (o *Object[T]) Answered(state State[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered(state)
}

func (o *Object[T]) answered(state State[T]) {
	o.gone = state.UID == ""
	if !o.gone {
		if older(state.ResourceVersion, o.last.ResourceVersion) {
			o.void = o.last.ResourceVersion
		}
		o.had = o.had && state.UID == o.last.UID
		o.last = state
	}
	o.ahead, o.doubted, o.askAt = true, false, time.Time{}
}

// CaughtUp lets go of the value that was kept, if the cache has it by now. Otherwise it would be kept until the next read,
// which may be a day later.
func (o *Object[T]) CaughtUp(cached State[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.see(cached)
	if o.ahead && !o.doubted && o.compare(cached) == current && o.hasValue(cached) {
		o.follow(cached)
	}
}

func (o *Object[T]) see(cached State[T]) {
	o.had = o.had || cached.UID != "" && cached.UID == o.last.UID
}

// Doubt makes the next read ask the API server: a write showed that what is known is outdated.
func (o *Object[T]) Doubt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.doubted = true
}

// AskAt is when to read again if the last read found the cache behind; zero if it did not.
func (o *Object[T]) AskAt() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.askAt
}

// Ahead reports whether more is known than the cache has.
func (o *Object[T]) Ahead() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ahead
}

// known is the state that counts while the cache is behind.
func (o *Object[T]) known() State[T] {
	if o.gone {
		return State[T]{}
	}
	return o.last
}

// hasValue reports whether the value of the cache's state needs no read past the cache.
func (o *Object[T]) hasValue(cached State[T]) bool {
	return !o.VersionsOnly || cached.UID == "" || cached.UID == o.last.UID && cached.ResourceVersion == o.last.ResourceVersion
}

// follow believes the cache. Of what it has, only the version is remembered. A cache that has never had an object that is gone may
// have yet to see it come and go.
func (o *Object[T]) follow(cached State[T]) State[T] {
	o.ahead = cached.UID == "" && o.gone && o.last.UID != "" && !o.had
	o.askAt, o.wait, o.void = time.Time{}, 0, ""
	o.gone = cached.UID == ""
	switch {
	case o.gone:
		var none T
		o.last.Value = none
		return cached
	case o.VersionsOnly:
		return o.last
	default:
		o.last, o.had = State[T]{UID: cached.UID, ResourceVersion: cached.ResourceVersion}, true
		return cached
	}
}

// patient reports whether the cache may still stay behind, and sets when not.
func (o *Object[T]) patient(now time.Time) bool {
	if o.askAt.IsZero() {
		o.wait = min(max(2*o.wait, patience), longestPatience)
		o.askAt = now.Add(o.wait)
	}
	if latest := now.Add(o.wait); o.askAt.After(latest) { // the clock was set back
		o.askAt = latest
	}
	return now.Before(o.askAt)
}
