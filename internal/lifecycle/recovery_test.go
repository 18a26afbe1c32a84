package lifecycle_test

import (
	"cmp"
	"time"
)

// recover ends all trouble and gives the Workspace time, and a user who helps.
func (h *history) recover() {
	h.logf("trouble ends")
	h.storeUp, h.bucket, h.apiUp, h.zombies, h.debug = true, true, true, nil, 0
	h.store = cmp.Or(h.saved.Archive.Store, h.store)
	for _, archive := range h.objects {
		archive.away = false
	}
	h.full, h.refuse, h.moved = false, false, 0
	if h.pod != nil && h.pod.foreign {
		h.pod = nil
	}
	h.ws.Pause = false
	h.rv++
	h.finishDeletion()
	if h.gone && h.pick(2) == 0 {
		h.reapply()
	}
	for look := range 400 {
		if h.controllers[0].decide(h.world, h.snapshot()); h.gone || h.atRest() {
			h.final()
			return
		}
		h.progress()
		h.now = h.now.Add(20 * time.Second)
		if look%20 == 19 {
			h.help()
		}
		if h.wrong != "" {
			return
		}
	}
	h.fault("it does not converge in %s", h.ws.Desired)
}
