package lifecycle_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// find returns the newest archive of the Workspace in the store, or else the one that it is to begin with.
func (w *world) find() lifecycle.ArchiveView {
	own := ""
	for _, where := range slices.Sorted(maps.Keys(w.objects)) {
		key, object := strings.TrimPrefix(where, "y:"), w.objects[where]
		if place(w.store, key) == where && strings.HasPrefix(key, "archives/"+w.ws.UID+"/") && object.marked != "" && !w.hidden(key, object) &&
			(own == "" || object.at.After(w.objects[place(w.store, own)].at)) {
			own = key
		}
	}
	from := w.ws.RestoreFrom
	switch {
	case !w.storeUp:
		return lifecycle.ArchiveView{Verdict: lifecycle.StoreUnreachable}
	case !w.bucket:
		return lifecycle.ArchiveView{Verdict: lifecycle.BucketMissing}
	case own != "":
		return w.verify(own)
	case from == lifecycle.FromNothing:
		return lifecycle.ArchiveView{Verdict: lifecycle.Absent, Store: w.store}
	case from == "", from == lifecycle.FromLatest:
		return w.keptView()
	}
	if view := w.verify(from); view.Verdict == lifecycle.Verified {
		return view
	}
	return lifecycle.ArchiveView{Verdict: lifecycle.Absent, Store: w.store}
}

// findable reports whether the last written version is in an archive that the status does not name, and the engine
// has to find it.
func (w *world) findable() bool {
	if w.saved.ArchiveKey != "" || w.vol != nil && !w.vol.foreign || w.ws.Deleting {
		return false
	}
	up, bucket := w.storeUp, w.bucket
	w.storeUp, w.bucket, w.back = true, true, true
	found := w.find()
	w.storeUp, w.bucket, w.back = up, bucket, false
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
