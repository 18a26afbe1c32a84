package lifecycle_test

import (
	"slices"

	"kyklos.io/kyklos/internal/lifecycle"
)

var states = []lifecycle.State{lifecycle.Running, lifecycle.Standby, lifecycle.Pending}

// person runs one action of a user.
func (h *history) person() {
	switch h.pick(14) {
	case 0, 1, 2, 3, 4, 5:
		h.want(states[h.pick(3)])
	case 6:
		h.ws.Pause = !h.ws.Pause
		h.rv++
	case 7:
		h.help()
	case 8:
		if h.vol != nil && h.debug == 0 && h.vol.state != lifecycle.VolumeTerminating {
			h.debug, h.late = 1, h.deletes()
			h.logf("a foreign Pod uses the volume")
		} else {
			h.debug = 0
		}
		h.finishDeletion()
	case 9:
		if h.pod != nil && !h.pod.foreign {
			h.logf("the Pod dies")
			h.pod.state = []lifecycle.PodState{lifecycle.PodEnded, lifecycle.PodNotReady, lifecycle.PodTerminating}[h.pick(3)]
			h.excused = h.excused || h.vol != nil && h.vol.state == lifecycle.VolumeTerminating
		}
	case 10:
		if h.pick(6) == 0 && !h.ws.Deleting {
			h.ws.Deleting, h.rv = true, h.rv+1
			h.ws.Generation++
			h.ws.DeletionPolicy = []lifecycle.DeletionPolicy{lifecycle.DeleteHome, lifecycle.ArchiveHome, lifecycle.RetainHome}[h.pick(3)]
			h.logf("deletion is asked for, with %s", h.ws.DeletionPolicy)
			if h.gone = !h.ws.Finalizer; h.saved.ArchiveKey == "" { // a deletion does not search for a key that was removed
				h.destroyed()
			}
			h.excused = h.excused || h.gone || h.saved.Phase == "" && h.vol == nil // it never had a home
		}
	default:
		if h.gone {
			h.reapply()
			return
		}
		switch h.pick(3) {
		case 0:
			h.destroy()
		case 1:
			h.changeStorage()
		}
	}
}

// destroy lets a user destroy something.
func (h *history) destroy() {
	h.damaged = true
	if h.pick(4) == 0 { // troubles come together
		h.storeUp = false
	}
	switch h.pick(8) {
	case 7:
		h.removeKey()
	case 0:
		if h.vol != nil && !h.vol.foreign {
			h.logf("a user deletes volume %s", h.vol.uid)
			h.vol.state, h.vol.dying = lifecycle.VolumeTerminating, h.now
			h.excused = true // it may be deleted with its last Pod
			h.rebase = h.rebase || h.unrecorded()
			h.finishDeletion()
		}
	case 1:
		if h.vol != nil && h.pod == nil && len(h.jobs) == 0 {
			h.logf("a user replaces volume %s by a foreign one", h.vol.uid)
			h.vol = &volume{uid: h.id(), foreign: true, state: lifecycle.VolumeBound, version: -1}
		}
	case 2:
		if h.vol != nil && !h.vol.foreign && h.vol.state == lifecycle.VolumeBound && h.pod == nil {
			h.logf("the disk of volume %s breaks", h.vol.uid)
			h.vol.state, h.vol.version = lifecycle.VolumeLost, -2
		}
	case 3:
		if h.rv++; h.pick(2) == 0 {
			h.logf("a user removes the volume's content from the status")
			h.saved.Volume.Content = ""
			h.excused = h.excused || h.vol == nil || h.vol.marker.Content == "" || h.vol.state == lifecycle.VolumeTerminating
			accepted := h.vol != nil && h.ws.AcceptedLoss == h.vol.uid          // and now it is unknown when that takes effect
			going := h.vol != nil && h.vol.state == lifecycle.VolumeTerminating // and soon nothing says that there was a home
			h.rebase = h.rebase || h.excused && (!h.safe() || accepted || going)
			break
		}
		h.logf("a user wipes the status")
		if h.saved, h.ws.ArchiveReady = (lifecycle.Status{}), ""; h.vol != nil && (h.vol.state == lifecycle.VolumeTerminating || h.vol.marker.Content == "") {
			h.excused = true // the home can no longer be found
		}
		h.rebase = h.rebase || h.excused || !h.safe()
	default:
		keys := make([]string, 0, len(h.objects))
		for key := range h.objects {
			keys = append(keys, key)
		}
		if slices.Sort(keys); len(keys) > 0 {
			h.spoil(keys[h.pick(len(keys))])
		}
	}
	h.destroyed()
}

// spoil corrupts or deletes an archive.
func (h *history) spoil(key string) {
	object := h.objects[key]
	if object == nil {
		return
	}
	h.logf("a user destroys %s", key)
	h.damaged, h.spoilt = true, h.now
	if object.corrupt = true; h.pick(2) == 0 {
		delete(h.objects, key)
	}
	if h.late && h.vol != nil && h.vol.state == lifecycle.VolumeTerminating {
		h.excused = true // it can no longer be restored
	}
	h.destroyed()
}

// trouble breaks or repairs something.
func (h *history) trouble() {
	switch h.pick(10) {
	case 9:
		h.repoint()
	case 8:
		if len(h.jobs) > 0 && h.jobs[0].State == lifecycle.JobRunning {
			h.zombies, h.jobs = append(h.zombies, h.jobs[0]), h.jobs[1:]
			h.logf("%s is removed by force, and continues", h.zombies[len(h.zombies)-1].Name)
			h.finishDeletion()
		}
	case 6:
		h.full = !h.full
	case 7:
		h.refuse = !h.refuse || h.pick(3) > 0
	case 0, 1:
		h.storeUp = !h.storeUp || h.pick(3) > 0
	case 2:
		h.bucket = !h.bucket || h.pick(3) > 0
	case 3:
		h.apiUp = !h.apiUp || h.pick(3) > 0
	case 4:
		if h.vol == nil && h.pick(2) == 0 {
			h.vol = &volume{uid: h.id(), foreign: true, state: lifecycle.VolumeBound, version: -1}
		} else if h.pod == nil {
			h.pod = &pod{uid: h.id(), foreign: true, state: lifecycle.PodReady}
		} else if h.pod.foreign {
			h.pod = nil
		}
	case 5:
		h.zombies = nil
	}
}

// help is what a user does about ERROR: accept the loss, delete foreign objects, request a retry.
func (h *history) help() {
	if h.vol != nil && h.vol.state == lifecycle.VolumeTerminating && (h.vol.uid == h.saved.Volume.UID || h.saved.Volume.UID == "") {
		h.logf("the loss of %s is accepted while it is deleted", h.vol.uid)
		h.ws.AcceptedLoss, h.excused = h.vol.uid, true
		h.rv++
	}
	h.helpNaming()
	if h.helpDeletion() || h.saved.Phase != lifecycle.Failed || h.cameBack() {
		return
	}
	if h.pod != nil && h.pod.foreign {
		h.pod = nil
	}
	if h.keepsVolume() {
		return
	}
	if h.vol != nil && h.vol.uid != h.ws.Adopts && (h.vol.foreign || h.saved.Error.Code == lifecycle.CodeVolumeUnknown) {
		h.vol = nil
		h.destroyed()
	}
	h.rv++
	elsewhere := h.saved.Error.Code == lifecycle.CodeArchiveElsewhere && h.pick(4) == 0
	if h.ws.RetryToken = h.id(); h.saved.Error.Reason != lifecycle.DataLost && !elsewhere {
		return
	}
	h.ws.AcceptedLoss = h.saved.Volume.UID
	if h.saved.Error.Code != lifecycle.CodeVolumeLost {
		h.ws.AcceptedLoss = h.saved.ArchiveKey
		// A home that was unpacked and not marked is lost with it.
		h.excused = h.excused || h.vol == nil || h.vol.marker.Content == ""
	}
	h.logf("the loss of %s is accepted", h.ws.AcceptedLoss)
	if h.saved.ArchiveKey == "" {
		h.destroyed() // from now on nothing is searched, not even the archive that the lost home began with
	}
}
