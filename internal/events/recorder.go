package events

import (
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// dedupeWindow is how long the same event with the same values is not repeated.
	dedupeWindow = 5 * time.Minute
	// rateWindow and rateLimit bound the normal events of one object; warnings always pass.
	rateWindow = time.Minute
	rateLimit  = 20
	// maxNote is the API server's bound for an event's note, in bytes.
	maxNote = 1024
)

// Recorder publishes events, deduplicated and rate limited per object. It is safe for concurrent use.
type Recorder struct {
	sink    events.EventRecorder
	mu      sync.Mutex
	objects map[types.NamespacedName]*history
}

// history is what was recently emitted for one object.
type history struct {
	uid    types.UID
	last   map[Event]time.Time
	recent []time.Time // times of normal events inside rateWindow, oldest first
}

// NewRecorder returns a Recorder that publishes to sink.
func NewRecorder(sink events.EventRecorder) *Recorder {
	return &Recorder{sink: sink, objects: map[types.NamespacedName]*history{}}
}

// Publish records the events about object, without repetitions and within the rate limit.
func (r *Recorder) Publish(object client.Object, now time.Time, evs ...Event) {
	r.Send(object, r.Admit(object, now, evs...)...)
}

// Admit returns the events about object that are no repetitions and within the rate limit. They have to be sent: to
// what comes later they count as published.
func (r *Recorder) Admit(object client.Object, now time.Time, evs ...Event) []Event {
	var admitted []Event
	for _, ev := range evs {
		if r.admit(object, now, ev) {
			admitted = append(admitted, ev)
		}
	}
	return admitted
}

// Send records events that were admitted.
func (r *Recorder) Send(object client.Object, evs ...Event) {
	for _, ev := range evs {
		r.sink.Eventf(object, nil, ev.Type, ev.Reason, ev.Action, "%s", fit(ev.Note))
	}
}

// fit cuts a note that is too long, between characters: the API takes valid UTF-8 only.
func fit(note string) string {
	if len(note) <= maxNote {
		return note
	}
	return strings.ToValidUTF8(note[:maxNote-len("...")], "") + "..."
}

// Forget drops the history of an object that is gone.
func (r *Recorder) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.objects, key)
}

func (r *Recorder) admit(object client.Object, now time.Time, ev Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	h := r.objects[key]
	if h == nil || h.uid != object.GetUID() {
		h = &history{uid: object.GetUID(), last: map[Event]time.Time{}}
		r.objects[key] = h
	}
	return h.admit(now, ev)
}

func (h *history) admit(now time.Time, ev Event) bool {
	for seen, at := range h.last {
		if outside(now, at, dedupeWindow) {
			delete(h.last, seen)
		}
	}
	if _, repeated := h.last[ev]; repeated {
		return false
	}
	if ev.Type == corev1.EventTypeNormal {
		for len(h.recent) > 0 && outside(now, h.recent[0], rateWindow) {
			h.recent = h.recent[1:]
		}
		if len(h.recent) >= rateLimit {
			return false
		}
		h.recent = append(h.recent, now)
	}
	h.last[ev] = now
	return true
}

// outside reports whether at is a window or more before now, or after it: a clock that was set back must not
// silence events.
func outside(now, at time.Time, window time.Duration) bool {
	return !now.Before(at.Add(window)) || at.After(now)
}
