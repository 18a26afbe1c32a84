package lifecycle_test

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// The world is a small model of a cluster with one Workspace, a volume whose bytes are a version
// number, and an object store. In every history, the last written version must not be lost.

// world is the real state; controllers see it late.
type world struct {
	now   time.Time
	moved time.Duration // the error of the controllers' clock
	ids   int
	ws    lifecycle.Workspace
	// storage is spec.storage.
	storage int
	gone    bool // the Workspace object is
	rv      int
	saved   lifecycle.Status

	pod  *pod
	vol  *volume
	jobs []*job
	// zombies are processes of Jobs that the API server no longer knows.
	zombies []*job
	backup  *volume              // of the home, elsewhere
	debug   int                  // Pods of other users on the volume
	late    bool                 // they came when it was about to be deleted
	objects map[string]*object   // by place
	names   map[string]time.Time // when archives were made known by the name, by place
	back    bool                 // what is away and known by its name counts as there
	store   string               // the store that the Secret names: x or y
	storeUp bool
	bucket  bool
	apiUp   bool
	full    bool // no slot is left for Pods and movers
	refuse  bool // the API server refuses new objects

	damaged bool      // a user has destroyed something
	spoilt  time.Time // when an archive was destroyed last
	written int       // the version that was written last
	excused bool      // a person destroyed the only copy
	rebase  bool      // and accepted the loss: the next start shows whatever is left
	// overwrite: the store has no conditional writes.
	overwrite bool
	wrong     string // the first violation
	log       []string
}

type pod struct {
	uid, op string
	attempt int32
	state   lifecycle.PodState
	foreign bool
}

type volume struct {
	uid, op string
	rv      int
	marker  lifecycle.Marker
	state   lifecycle.VolumeState
	foreign bool
	release bool
	made    int // of which spec.storage
	version int
	disk    string    // which restore the bytes are of
	dying   time.Time // when a person deleted it
}

type job struct {
	lifecycle.Job
	key     string
	epoch   int64
	version int // as it was read
	stage   int
	store   string // its ticket is for
}

type object struct {
	version       int
	sum, marked   string // of the data; in the marker
	volumeUID     string
	epoch         int64
	corrupt, kept bool
	away          bool // for a while, such as while the bucket is restored from a backup
	at            time.Time
}

func newWorld() *world {
	return &world{
		now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), storeUp: true, bucket: true, apiUp: true,
		objects: map[string]*object{}, names: map[string]time.Time{}, store: "x",
		ws: lifecycle.Workspace{
			Name: "home", UID: "w1", Generation: 1, Desired: lifecycle.Running, HasStore: true, DeletionPolicy: lifecycle.DeleteHome,
			CreatedAt: time.Date(2025, 11, 11, 11, 0, 0, 0, time.UTC), // not new for any clock
		},
	}
}

func (w *world) id() string {
	w.ids++
	return fmt.Sprintf("%06d-id", w.ids)
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, w.now.Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *world) fault(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
		w.logf("WRONG: %s", w.wrong)
	}
}

// place is where a store has an archive.
func place(store, key string) string {
	if store == "y" {
		return "y:" + key
	}
	return key
}

// seen is the observation of a live read.
func (w *world) seen() lifecycle.Observation {
	o := lifecycle.Observation{OtherPods: w.debug, Failed: !w.apiUp}
	if p := w.pod; p != nil {
		o.Pod = lifecycle.Pod{State: p.state, Foreign: p.foreign, UID: p.uid, OperationID: p.op, Attempt: p.attempt}
	}
	if v := w.vol; v != nil {
		o.Volume = lifecycle.VolumeView{
			State: v.state, Foreign: v.foreign, Released: v.release, Left: v.left(), UID: v.uid, ResourceVersion: fmt.Sprint(v.rv), OperationID: v.op, Marker: v.marker,
			Outdated: v.made != w.storage,
		}
	}
	for _, j := range w.jobs {
		o.Jobs = append(o.Jobs, j.Job)
	}
	return o
}

// verify checks an archive in the store.
func (w *world) verify(key string) lifecycle.ArchiveView {
	view := lifecycle.ArchiveView{Key: key, Store: w.store}
	object := w.objects[place(w.store, key)]
	switch {
	case !w.storeUp:
		view.Verdict = lifecycle.StoreUnreachable
	case !w.bucket:
		view.Verdict = lifecycle.BucketMissing
	case object == nil || object.marked == "" || w.hidden(key, object):
		view.Verdict = lifecycle.Absent
	case object.corrupt || object.marked != object.sum:
		view.Verdict = lifecycle.Corrupt
	default:
		_, named := w.names[place(w.store, key)]
		view.Verdict, view.Kept = lifecycle.Verified, object.kept && named
		view.Archive = lifecycle.Archive{SHA256: object.sum, Size: int64(object.version), VolumeUID: object.volumeUID, Epoch: object.epoch}
	}
	return view
}

// safe reports whether the last written version can still be restored.
func (w *world) safe() bool {
	if v := w.vol; v != nil && v.version == w.written && (v.foreign || v.marker.Content != "" || v.disk == "") { // what was unpacked and not marked is no home
		return true
	}
	if w.gone {
		return w.leftBehind()
	}
	good := func(archive *object) bool {
		return archive != nil && !archive.corrupt && archive.marked == archive.sum && archive.version == w.written
	}
	return w.findable() || good(w.objects[place("x", w.saved.ArchiveKey)]) || good(w.objects[place("y", w.saved.ArchiveKey)])
}

// check is the invariant. A deletion gives up the home, unless the policy archives or keeps it.
func (w *world) check(what string) {
	if w.written == 0 || w.excused || w.safe() {
		return
	}
	if w.ws.Deleting && (w.ws.DeletionPolicy == lifecycle.DeleteHome || w.ws.NamespaceTerminating) {
		return
	}
	w.fault("version %d is lost after %s", w.written, what)
}

// destroyed is called after a user destroyed something: such a loss is not Kyklos' fault.
func (w *world) destroyed() {
	if w.written > 0 && !w.safe() {
		w.excused = true
		// A home that is recorded nowhere cannot be known.
		w.rebase = w.rebase || w.unrecorded()
	}
}

// unrecorded reports whether the status does not show that there is a home.
func (w *world) unrecorded() bool {
	return w.saved.Volume.Content == "" && (w.saved.Volume.UID != "" || w.saved.ArchiveKey == "")
}

// write lets a user write files.
func (w *world) write() {
	w.written++
	w.vol.version = w.written
	if w.vol.state != lifecycle.VolumeTerminating || w.pod.state == lifecycle.PodReady && w.ws.AcceptedLoss != w.vol.uid {
		w.excused = false
	}
	w.logf("a user writes version %d", w.written)
}

// shows is called when a user sees the home.
func (w *world) shows() {
	switch {
	case w.vol.version == w.written:
	case w.rebase:
		w.written, w.rebase, w.excused = w.vol.version, false, false
	default:
		w.fault("a user sees version %d in place of %d", w.vol.version, w.written)
	}
}
