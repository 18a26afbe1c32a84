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
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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

// Object is what is known of one object. The zero value knows nothing. It is not safe for concurrent use.
type Object[T any] struct {
	// VersionsOnly: the cache has no values, so that each new version costs a read past it.
	VersionsOnly bool

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
	cached, err := cache()
	if err != nil {
		return cached, err
	}
	o.had = o.had || cached.UID != "" && cached.UID == o.last.UID
	relation := o.compare(cached)
	switch {
	case o.doubted:
	case relation == current && o.hasValue(cached):
		return o.follow(cached), nil
	case relation == behind && o.ahead && o.patient(now):
		return o.known(), nil
	}
	answer, err := server()
	if err != nil {
		return answer, err
	}
	o.Answered(answer)
	if answer.UID == "" && cached.UID == "" { // they agree
		return o.follow(cached), nil
	}
	if o.compare(cached) == behind {
		o.patient(now) // when to ask again
	}
	return answer, nil
}

// Answered takes what the API server answered to a write or to a read past the cache.
func (o *Object[T]) Answered(state State[T]) {
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

// Doubt makes the next read ask the API server: a write showed that what is known is outdated.
func (o *Object[T]) Doubt() { o.doubted = true }

// AskAt is when to read again if the last read found the cache behind; zero if it did not.
func (o *Object[T]) AskAt() time.Time { return o.askAt }

// Ahead reports whether more is known than the cache has.
func (o *Object[T]) Ahead() bool { return o.ahead }

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

// order is how the cache's state relates to the known one.
type order int

const (
	current order = iota
	behind
	unclear
)

func (o *Object[T]) compare(cached State[T]) order {
	switch {
	case o.last.UID == "" && !o.ahead: // nothing is known
		return current
	case cached.UID == "":
		if o.gone || !o.ahead { // the cache had the object, and so it has been deleted
			return current
		}
		return unclear // created or deleted
	case o.last.UID == "":
		return unclear // deleted or created
	case o.gone && cached.UID == o.last.UID:
		return behind
	}
	switch {
	case cached.UID == o.last.UID && cached.ResourceVersion == o.last.ResourceVersion:
		return current
	case older(cached.ResourceVersion, o.last.ResourceVersion):
		return behind
	case !older(o.last.ResourceVersion, cached.ResourceVersion), o.void != "" && !older(o.void, cached.ResourceVersion):
		return unclear
	default:
		return current
	}
}

// older compares resourceVersions, which grow (KEP-5504). Of versions that cannot be compared, none is older.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
