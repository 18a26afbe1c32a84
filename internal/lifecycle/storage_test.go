package lifecycle_test

import "kyklos.io/kyklos/internal/lifecycle"

// changeStorage changes the class or the size of the volume, which the API server allows while there is none (W74).
func (h *history) changeStorage() {
	if s := h.saved; s.Phase == "" || s.Phase == lifecycle.Pending || s.Phase == lifecycle.Failed && s.Volume.Content != lifecycle.Empty && s.Volume.Content != lifecycle.Restored {
		h.logf("another storage is asked for")
		h.storage++
		h.ws.Generation++
		h.rv++
	}
}
