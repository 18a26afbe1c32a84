package lifecycle_test

import (
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// find returns the newest archive of the Workspace in the store, or else the one that it is to begin with.
func (w *world) find() lifecycle.ArchiveView {
	from := w.ws.RestoreFrom
	switch found := w.newest(func(key string, _ *object) bool { return strings.HasPrefix(key, "archives/"+w.ws.UID+"/") }); {
	case found.Verdict != lifecycle.Absent, from == lifecycle.FromNothing:
		return found
	case from == "", from == lifecycle.FromLatest:
		return w.newest(func(_ string, o *object) bool { return o.kept })
	default:
		return w.newest(func(key string, _ *object) bool { return key == from })
	}
}

// newest returns the newest archive of some in the store, an intact one before a damaged one.
func (w *world) newest(of func(string, *object) bool) lifecycle.ArchiveView {
	var found lifecycle.ArchiveView
	var at time.Time
	for where, object := range w.objects {
		key := strings.TrimPrefix(where, "y:")
		if place(w.store, key) != where || object.marked == "" || !of(key, object) {
			continue
		}
		view := w.verify(key)
		better := found.Verdict != lifecycle.Verified && view.Verdict == lifecycle.Verified
		if better || found.Verdict == view.Verdict && object.at.After(at) || found.Key == "" {
			found, at = view, object.at
		}
	}
	switch {
	case !w.storeUp:
		return lifecycle.ArchiveView{Verdict: lifecycle.StoreUnreachable}
	case !w.bucket:
		return lifecycle.ArchiveView{Verdict: lifecycle.BucketMissing}
	case found.Key == "":
		return lifecycle.ArchiveView{Verdict: lifecycle.Absent, Store: w.store}
	}
	return found
}

// findable reports whether the last written version is in an archive that the status does not name, and the engine
// has to find it.
func (w *world) findable() bool {
	if w.saved.ArchiveKey != "" || w.vol != nil && !w.vol.foreign || w.ws.Deleting {
		return false
	}
	up, bucket := w.storeUp, w.bucket
	w.storeUp, w.bucket = true, true
	found := w.find()
	w.storeUp, w.bucket = up, bucket
	hint := w.saved.Phase == "" || w.saved.Archive != lifecycle.Archive{} || w.ws.ArchiveReady != lifecycle.False
	return found.Verdict == lifecycle.Verified && found.Archive.Size == int64(w.written) && found.Key != w.ws.AcceptedLoss && (hint || w.ws.AcceptedLoss == "")
}

// removeKey lets a user remove archiveKey from the status of an archived home, and perhaps more of it.
func (h *history) removeKey() {
	if h.saved.Phase != lifecycle.Pending || h.saved.Operation.Type != lifecycle.None || h.saved.ArchiveKey == "" {
		return
	}
	h.logf("a user removes archiveKey")
	h.rv++
	if h.saved.ArchiveKey = ""; h.pick(2) == 0 {
		h.saved.Archive = lifecycle.Archive{}
		h.ws.ArchiveReady = []lifecycle.Truth{"", lifecycle.False, lifecycle.True}[h.pick(3)]
		if h.now.Add(h.moved).Sub(h.ws.CreatedAt).Abs() < 5*time.Minute && h.ws.ArchiveReady == lifecycle.False {
			h.excused, h.rebase = true, true // a new Workspace is searched for once
		}
	}
}

// deletes reports whether the deletion of the volume is decided already.
func (h *history) deletes() bool {
	return slices.ContainsFunc(h.controllers[:], func(c controller) bool {
		return c.pending != nil && c.pending.decision.Act.Kind == lifecycle.ActDeleteVolume
	})
}
