package message

import (
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
)

// CodeOf returns the word for how a mover's run failed; JobFailed for one that was killed, and has no
// code.
func CodeOf(code mover.Code) lifecycle.Code {
	switch code {
	case mover.ArchiveNotFound, mover.MetaNotFound:
		return lifecycle.CodeArchiveLost
	case mover.ChecksumMismatch:
		return lifecycle.CodeArchiveCorrupt
	case mover.HomeMissing:
		return lifecycle.CodeVolumeLost
	case mover.StoreAccess:
		return lifecycle.CodeStoreUnreachable
	case mover.BucketMissing:
		return lifecycle.CodeBucketMissing
	default:
		return lifecycle.CodeJobFailed
	}
}

// advice says what can be done about a mover that failed.
func (f Facts) advice() string {
	switch mover.Code(f.Detail.Code) {
	case mover.HomeUnreadable:
		return "Start the workspace and make that file or folder readable for its owner, or delete it."
	case mover.HomeChanged, mover.VolumeBusy:
		return "Somebody else uses the volume; see who: `kubectl describe pvc -n {namespace} {volume}`."
	case mover.DiskFull:
		return "Raise spec.storage.size; the storage class has to allow it."
	case mover.HomeExists:
		return "The volume holds a home that is not the archive's; look into it before you delete anything."
	default:
		return moverLog
	}
}
