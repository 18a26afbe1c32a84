package lifecycle_test

import (
	"cmp"
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// recover ends all trouble and gives the Workspace time, and a user who helps.
func (h *history) recover() {
	h.logf("trouble ends")
	h.storeUp, h.bucket, h.apiUp, h.zombies, h.debug = true, true, true, nil, 0
	h.store = cmp.Or(h.saved.Archive.Store, h.store)
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

// atRest reports whether the desired state is reached and nothing is left to do.
func (h *history) atRest() bool {
	c := h.controllers[0]
	return c.pending == nil && c.code == lifecycle.CodeConverged && h.saved.Phase == h.ws.Desired && h.saved.Operation.Type == lifecycle.None && !h.ws.Deleting
}

// final checks the objects at the end.
func (h *history) final() {
	pod, home := h.pod != nil && h.pod.state == lifecycle.PodReady, h.vol != nil && !h.vol.foreign
	want := [2]bool{h.ws.Desired == lifecycle.Running, h.ws.Desired != lifecycle.Pending}
	if h.gone {
		want = [2]bool{false, home && (h.vol.release || !h.ws.Finalizer && h.saved.Phase == "")}
	}
	if got := [2]bool{pod, home || h.vol != nil && !want[1] && !h.vol.foreign}; got != want {
		h.fault("in the end Pod and volume are %v in place of %v", got, want)
	}
	if len(h.jobs) > 0 {
		h.fault("in the end there are Jobs: %s", fmt.Sprint(len(h.jobs)))
	}
	h.check("the end")
}
