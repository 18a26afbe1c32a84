package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// precede lets a Workspace of the same name have existed and been deleted. Its archive was kept.
func (h *history) precede() {
	h.objects[lifecycle.ArchiveKey("w0", "old")] = &object{version: 1, sum: "old", marked: "old", kept: true, at: h.now.Add(-time.Hour)}
	h.names[lifecycle.ArchiveKey("w0", "old")] = h.now.Add(-time.Hour)
	if h.pick(2) == 0 {
		h.objects[lifecycle.ArchiveKey("w0", "older")] = &object{version: 2, sum: "older", marked: "older", at: h.now.Add(-2 * time.Hour)}
	}
	h.reapply()
}

// reapply creates the Workspace again after its deletion, with another spec.restoreFrom. What the user is to find in the home is
// known from the objects alone.
func (h *history) reapply() {
	h.ids++
	desired := h.ws.Desired
	h.ws = newWorld().ws
	h.ws.UID, h.ws.CreatedAt, h.ws.Desired = fmt.Sprintf("w%d", h.ids+1), h.now, desired
	h.rv, h.gone, h.saved = h.rv+1, false, lifecycle.Status{}
	h.pod, h.jobs, h.zombies, h.caches = nil, nil, nil, nil
	h.controllers[0].pending, h.controllers[1].pending = nil, nil
	if h.vol != nil {
		h.vol.foreign = true
	}
	keys := h.intact()
	h.ws.RestoreFrom = append([]string{"", "", lifecycle.FromLatest, lifecycle.FromNothing}, keys...)[h.pick(4+len(keys))]
	h.excused, h.rebase = false, false
	h.expect()
	h.logf("the Workspace is applied again as %s, from %q: version %d is expected", h.ws.UID, h.ws.RestoreFrom, h.written)
}

// intact are the keys of the intact archives in the store of now.
func (h *history) intact() (keys []string) {
	for where := range h.objects {
		if key := strings.TrimPrefix(where, "y:"); place(h.store, key) == where && h.good(h.objects[where]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (w *world) good(o *object) bool { return o.marked != "" && o.marked == o.sum && !o.corrupt }

// unreadable is the version of a home that was kept and cannot be restored: none that a user may see.
const unreadable = -9

// expect is the version that a new Workspace is to begin with.
func (h *history) expect() {
	h.written = 0
	from := h.ws.RestoreFrom
	if h.vol.left() && from == "" {
		h.written = max(h.vol.version, 0)
		return
	}
	switch from {
	case lifecycle.FromNothing:
		return
	case "", lifecycle.FromLatest:
		if from = h.newestName(); from == "" {
			return
		}
	}
	if o := h.objects[place(h.store, from)]; o != nil && h.good(o) {
		h.written = o.version
	} else if from != h.ws.RestoreFrom { // it was kept: nothing else takes its place until somebody says so
		h.written, h.excused = unreadable, true
	}
}

// left reports whether it is the home that a deleted Workspace left behind.
func (v *volume) left() bool { return v != nil && v.foreign && v.release && v.marker.Content != "" }

// helpNaming is what a user does about an archive that is to be restored and is not there: without the name, whatever there is.
func (h *history) helpNaming() {
	code := h.controllers[0].code
	if h.helpKept(code) || h.saved.Phase != "" && h.saved.Phase != lifecycle.Pending || code != lifecycle.CodeArchiveNotFound || h.ws.RestoreFrom == "" {
		return
	}
	h.logf("restoreFrom %s is given up", h.ws.RestoreFrom)
	h.rv++
	h.ws.Generation++
	h.ws.RestoreFrom = ""
	h.expect()
}

// keepsVolume lets a user give up the archive beside a home that is not recorded, if the home is the newer one.
func (h *history) keepsVolume() bool {
	if h.saved.Error.Code != lifecycle.CodeVolumeUnknown || h.saved.ArchiveKey == "" || h.vol == nil || h.vol.version != h.written || h.pick(2) == 0 {
		return false
	}
	h.logf("%s is given up for the volume", h.saved.ArchiveKey)
	h.rv++
	h.ws.AcceptedLoss = h.saved.ArchiveKey
	return true
}

// progress advances everything that was started by one step.
func (h *history) progress() {
	h.controllers[0].commit(h.world)
	h.kubelet()
	for _, j := range slices.Clone(h.jobs) {
		h.mover(j, false)
	}
	h.check("progress")
}
