package events

// The reasons of events on a Workspace when an operation starts and completes. Other events have the reasons of conditions
// (apis/v1alpha1).
const (
	ReasonProvisioning    = "Provisioning"
	ReasonProvisioned     = "Provisioned"
	ReasonRestoring       = "Restoring"
	ReasonRestored        = "Restored"
	ReasonStarting        = "Starting"
	ReasonStarted         = "Started"
	ReasonStopping        = "Stopping"
	ReasonStopped         = "Stopped"
	ReasonArchiving       = "Archiving"
	ReasonArchived        = "Archived"
	ReasonDeletionStarted = "DeletionStarted"
	// ReasonVolumeNotGrown: the API server does not allow the volume to grow to spec.storage.size.
	ReasonVolumeNotGrown = "VolumeNotGrown"
	// ReasonRestoredInPart: something in the archive could not be restored, such as the owner of a file.
	ReasonRestoredInPart = "RestoredInPart"
	// ReasonKeptArchivesStay: the Workspace is deleted with its home, and archives that earlier deletions kept under its name stay.
	ReasonKeptArchivesStay = "KeptArchivesStay"
	// ReasonUndecodable: the spec or the status has a value that Kyklos cannot decode.
	ReasonUndecodable = "Undecodable"
)

// EmitWorkspace makes a normal event of a Workspace.
func EmitWorkspace(reason, note string) Event { return normal(reason, reason, note) }

// EmitWorkspaceTrouble makes a warning of a Workspace.
func EmitWorkspaceTrouble(reason, note string) Event { return warning(reason, reason, note) }
