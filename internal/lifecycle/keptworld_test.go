package lifecycle_test

import (
	"slices"
	"strings"

	"kyklos.io/kyklos/internal/lifecycle"
)

// keep makes an archive known by the name, and marks it.
func (w *world) keep(key string) {
	at := place(w.store, key)
	if _, known := w.names[at]; !known {
		w.names[at] = w.now
	}
	if o := w.objects[at]; o != nil {
		o.kept = true
	}
}

// unname ends what is known by the name in the store of now.
func (w *world) unname() {
	for at := range w.names {
		if place(w.store, strings.TrimPrefix(at, "y:")) == at {
			delete(w.names, at)
		}
	}
}

// newestName is the key of what was kept last under the name, in the store of now; empty for nothing.
func (w *world) newestName() (newest string) {
	for at, when := range w.names {
		key := strings.TrimPrefix(at, "y:")
		if place(w.store, key) != at {
			continue
		}
		if newest == "" || when.After(w.names[place(w.store, newest)]) || when.Equal(w.names[place(w.store, newest)]) && key > newest {
			newest = key
		}
	}
	return newest
}

// keptView is the store's answer about the name.
func (w *world) keptView() lifecycle.ArchiveView {
	key := w.newestName()
	if key == "" {
		return lifecycle.ArchiveView{Verdict: lifecycle.Absent, Store: w.store}
	}
	view := w.verify(key)
	if view.Verdict != lifecycle.Verified {
		return lifecycle.ArchiveView{Key: key, Verdict: lifecycle.KeptLost, Store: w.store}
	}
	return view
}

// hidden reports whether an archive is away. The engine has to wait for one that is known by the name, or that is named.
func (w *world) hidden(key string, o *object) bool {
	return o.away && (!w.back || !o.kept && key != w.ws.RestoreFrom)
}

// leftBehind reports whether a Workspace that is gone has left the last written version behind, so that another one of its name
// finds it.
func (w *world) leftBehind() bool {
	for at, o := range w.objects {
		if _, named := w.names[at]; named && o.kept && w.good(o) && o.version == w.written {
			return true
		}
	}
	return false
}

// hide lets an archive be away for a while, or come back.
func (h *history) hide() {
	var complete []string
	for at, o := range h.objects {
		if o.marked != "" {
			complete = append(complete, at)
		}
	}
	if slices.Sort(complete); len(complete) == 0 {
		return
	}
	at := complete[h.pick(len(complete))]
	o := h.objects[at]
	o.away = !o.away
	h.logf("%s is away: %t", at, o.away)
	h.damaged = true
	h.destroyed() // nothing but a status leads to an archive of a Workspace that exists
}

// helpKept is what a user does about a kept archive that cannot be restored: an empty home, or an older one.
func (h *history) helpKept(code lifecycle.Code) bool {
	if code != lifecycle.CodeKeptArchiveLost || h.gone || h.ws.Deleting || h.vol != nil && !h.vol.foreign {
		return false
	}
	keys := append([]string{lifecycle.FromNothing}, h.intact()...)
	h.ws.RestoreFrom = keys[h.pick(len(keys))]
	h.ws.Generation++
	h.rv++
	h.excused = h.rebase // an archive of its own may come back, too
	h.expect()
	h.logf("the home is to begin with %s: version %d is expected", h.ws.RestoreFrom, h.written)
	return true
}

// helpDeletion is what a user does about a deletion that waits for a lost archive: nothing if it is back, or else give it up.
func (h *history) helpDeletion() bool {
	last := h.saved.Error
	if h.gone || !h.ws.Deleting || last.Operation != lifecycle.Removing || last.Reason != lifecycle.DataLost {
		return false
	}
	if h.verify(h.saved.ArchiveKey).Verdict == lifecycle.Verified {
		return true
	}
	h.rv++
	h.excused = true
	if h.pick(2) == 0 {
		h.logf("the home is to be deleted after all")
		h.ws.DeletionPolicy = lifecycle.DeleteHome
		h.ws.Generation++
		return true
	}
	h.logf("the loss of %s is accepted", h.saved.ArchiveKey)
	h.ws.AcceptedLoss = h.saved.ArchiveKey
	return true
}

// cameBack lets a user who sees that a lost archive is back request a retry.
func (h *history) cameBack() bool {
	last := h.saved.Error
	if last.Reason != lifecycle.DataLost || last.Code == lifecycle.CodeVolumeLost || h.verify(h.saved.ArchiveKey).Verdict != lifecycle.Verified {
		return false
	}
	h.rv++
	h.ws.RetryToken = h.id()
	return true
}
