package lifecycle

// What a new home begins with, besides the key of an archive.
const (
	// FromLatest: the newest archive that a deleted Workspace of the same name left behind. It must exist.
	FromLatest = "latest"
	// FromNothing: an empty home, whatever archives there are.
	FromNothing = "empty"
)

// named reports whether spec.restoreFrom names an archive that must be found before there is a home (W68). After a loss was
// accepted, the home is empty.
func (e *evaluation) named() bool {
	from := e.Workspace.RestoreFrom
	return from != "" && from != FromNothing && (e.given.Phase == "" || e.Workspace.AcceptedLoss == "")
}

// inherits reports whether the Workspace's home is the volume that a deleted Workspace of its name left behind (W67).
func (e *evaluation) inherits() bool {
	volume := e.Observed.Volume
	return volume.Left && (volume.State == VolumeBound || volume.State == VolumeWaiting || volume.State == VolumePending) &&
		e.Workspace.RestoreFrom == "" && !e.Workspace.Deleting && e.Status.Volume == (Volume{}) && !e.Status.archived()
}

// inherit makes that volume this Workspace's. Its marker says that it is a home, so that it is recorded next.
func (e *evaluation) inherit() bool {
	return e.inherits() && e.act(CodeWorking, e.claim(false))
}
