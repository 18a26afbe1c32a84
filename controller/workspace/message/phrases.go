package message

import (
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// phrases are what is said of one operation.
type phrases struct {
	// doing names it at the beginning of a sentence. timeout is its field in spec.timeouts. look says where
	// to look when it takes long.
	doing, timeout, look string
	// so goes on with doing where it is announced: what becomes of the home.
	so string
	// begins and done are the reasons of its events, and after is the note of the latter.
	begins, done, after string
}

func phrasesOf(operation lifecycle.OperationType) phrases {
	switch operation {
	case lifecycle.Provisioning:
		return phrases{
			"Making volume {volume} with an empty home", "provisioningSeconds", describeVolume, "",
			events.ReasonProvisioning, events.ReasonProvisioned, "Volume {volume} is there, with an empty home",
		}
	case lifecycle.Restoring:
		return phrases{
			"Fetching the home from its archive onto volume {volume}", "restoringSeconds", moverLog, "",
			events.ReasonRestoring, events.ReasonRestored, "The home is on volume {volume}, fetched from the archive {archiveKey}",
		}
	case lifecycle.Starting:
		return phrases{
			"Starting Pod {pod} with the home on volume {volume}", "startingSeconds", describePod, "",
			events.ReasonStarting, events.ReasonStarted, "Pod {pod} is ready",
		}
	case lifecycle.Stopping:
		return phrases{
			"Stopping Pod {pod}", "stoppingSeconds", describePod, "",
			events.ReasonStopping, events.ReasonStopped, "Pod {pod} is gone; the home is on volume {volume}",
		}
	case lifecycle.Archiving:
		return phrases{
			"Putting the home on volume {volume} into the archive", "archivingSeconds", moverLog, "",
			events.ReasonArchiving, events.ReasonArchived, "The home is in the archive {archiveKey}, {archiveSize}, and its volume is gone",
		}
	case lifecycle.Removing:
		return phrases{
			"Deleting what belongs to the workspace", "deletingSeconds", "", ": {fate}", events.ReasonDeletionStarted, "", "",
		}
	default:
		return phrases{doing: "Getting ready"}
	}
}

// slow says what can be done about an attempt that took too long.
func (p phrases) slow() string {
	if p.timeout == "" {
		return ""
	}
	return join("If it needs longer, raise spec.timeouts."+p.timeout+".", p.look)
}
