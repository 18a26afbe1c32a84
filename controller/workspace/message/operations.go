package message

import (
	"cmp"

	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// operationText are the texts of one operation.
type operationText struct {
	// doing starts a sentence about it. timeout is its field in spec.timeouts, details how to find out why it is slow.
	doing, timeout, details string
	// started and done are the reasons of its events, and after is the note of the second.
	started, done, after string
}

var operationTexts = map[lifecycle.OperationType]operationText{
	lifecycle.Provisioning: {
		"Creating volume {{.Volume}} with an empty home", "provisioningSeconds", describeVolume,
		events.ReasonProvisioning, events.ReasonProvisioned, "Created volume {{.Volume}} with an empty home",
	},
	lifecycle.Restoring: {
		"Restoring the home from its archive to volume {{.Volume}}", "restoringSeconds", moverLog,
		events.ReasonRestoring, events.ReasonRestored, "Restored the home from archive {{.ArchiveKey}} to volume {{.Volume}}",
	},
	lifecycle.Starting: {
		"Starting Pod {{.Pod}} with the home on volume {{.Volume}}", "startingSeconds", describePod,
		events.ReasonStarting, events.ReasonStarted, "Pod {{.Pod}} is ready",
	},
	lifecycle.Stopping: {
		"Stopping Pod {{.Pod}}", "stoppingSeconds", describePod,
		events.ReasonStopping, events.ReasonStopped, "Pod {{.Pod}} is gone; the home is on volume {{.Volume}}",
	},
	lifecycle.Archiving: {
		"Archiving the home on volume {{.Volume}}", "archivingSeconds", moverLog,
		events.ReasonArchiving, events.ReasonArchived, "Archived the home as {{.ArchiveKey}}, {{.ArchiveSize}}, and deleted its volume{{if .LeftOut}}; left out: {{.LeftOut}}{{end}}",
	},
	lifecycle.Removing: {doing: "Deleting the workspace", timeout: "deletingSeconds", started: events.ReasonDeletionStarted},
	lifecycle.None:     {doing: "Preparing the workspace"},
}

// textsOf returns the texts of an operation.
func textsOf(operation lifecycle.OperationType) operationText {
	if texts, ok := operationTexts[operation]; ok {
		return texts
	}
	return operationTexts[lifecycle.None]
}

// slow is what the user can do about an attempt that took too long.
func (o operationText) slow() string {
	if o.timeout == "" {
		return ""
	}
	return join("If it needs more time, raise spec.timeouts."+o.timeout+".", o.details)
}

var moverCodes = map[mover.Code]lifecycle.Code{
	mover.ArchiveNotFound: lifecycle.CodeArchiveLost, mover.MetaNotFound: lifecycle.CodeArchiveLost,
	mover.ChecksumMismatch: lifecycle.CodeArchiveCorrupt, mover.HomeMissing: lifecycle.CodeVolumeLost,
	mover.HomeUnreadable: lifecycle.CodeHomeUnreadable, mover.StoreAccess: lifecycle.CodeStoreUnreachable, mover.BucketMissing: lifecycle.CodeBucketMissing,
}

// CodeOf returns the code for a failed mover. A mover that was killed has no result code: JobFailed.
func CodeOf(code mover.Code) lifecycle.Code { return cmp.Or(moverCodes[code], lifecycle.CodeJobFailed) }

const busy = "Another Pod uses the volume; to see which: `kubectl describe pvc -n {{.Namespace}} {{.Volume}}`."

// advice is what the user can do about a failed mover. The default is its log.
var advice = map[mover.Code]string{
	mover.HomeChanged: busy, mover.VolumeBusy: busy,
	mover.DiskFull:     "Increase spec.storage.size: the home is then restored to a larger volume.",
	mover.HomeTooLarge: "Increase spec.storage.size; the storage class must allow it. Files that share or compress their blocks need more space when they are restored.",
	mover.IdentityMissing: "Add the identity, which is the secret key of one of the recipients, to the key ageIdentity of Secret {{.Secret}}: one a line. Nothing is lost." +
		"{{if .Archived}} If no identity can be found any more, nobody can open this archive: to begin with an empty home, delete the workspace and apply it again with spec.restoreFrom: empty.{{end}}",
	mover.HomeExists: "The volume holds a home that is not from the archive; inspect it before you delete anything.",
}
