package lifecycle_test

import (
	"fmt"

	"kyklos.io/kyklos/internal/lifecycle"
)

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
	if v := h.vol; v != nil && !h.gone && v.uid == h.ws.Adopts && v.uid != h.saved.Volume.UID {
		h.fault("in the end volume %s was chosen, and is not the home", v.uid)
	}
	if len(h.jobs) > 0 {
		h.fault("in the end there are Jobs: %s", fmt.Sprint(len(h.jobs)))
	}
	h.check("the end")
}
