package events

// The reasons of events on a Workspace when an operation begins and when it is complete. The other events
// have the reason of the condition that they tell of (apis/v1alpha1).
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
	// ReasonVolumeNotGrown: the API server does not let the volume grow to spec.storage.size.
	ReasonVolumeNotGrown = "VolumeNotGrown"
)

// EmitWorkspace says that something goes as it should with a Workspace.
func EmitWorkspace(reason, note string) Event { return normal(reason, reason, note) }

// EmitWorkspaceTrouble says that something does not.
func EmitWorkspaceTrouble(reason, note string) Event { return warning(reason, reason, note) }
