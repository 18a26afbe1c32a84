package lifecycle

import "time"

// Observation is the observed state of the objects of a Workspace.
type Observation struct {
	// Failed: something could not be read. The rest of the observation does not count (W45).
	Failed bool
	// Live: the Workspace and its objects were read from the API server, not from a cache. PodsLive: so were all Pods that
	// use the volume.
	Live, PodsLive bool
	Pod            Pod
	Volume         VolumeView
	Jobs           []Job
	// OtherPods counts the Pods that use the volume, in any phase, except those of the Workspace and its Jobs.
	OtherPods int
}

// PodState is the observed state of the Pod object. A Pod that is not running may still write; only an absent one does not
// (D3).
type PodState string

// The states of the Pod object.
const (
	PodAbsent      PodState = ""
	PodNotReady    PodState = "NotReady"
	PodReady       PodState = "Ready"
	PodTerminating PodState = "Terminating"
	PodEnded       PodState = "Ended" // phase Failed or Succeeded
)

// Pod is the Pod with the Workspace's name.
type Pod struct {
	State PodState
	// Foreign: it does not belong to the Workspace, by its owner's UID.
	Foreign bool
	UID     string
	// OperationID and Attempt are those that created it.
	OperationID string
	Attempt     int32
}

// VolumeState is the observed state of the PersistentVolumeClaim.
type VolumeState string

// The states of the PersistentVolumeClaim (D17, D19).
const (
	VolumeAbsent      VolumeState = ""
	VolumePending     VolumeState = "Pending"
	VolumeWaiting     VolumeState = "WaitForFirstConsumer" // Pending until a Pod uses it: usable
	VolumeBound       VolumeState = "Bound"
	VolumeTerminating VolumeState = "Terminating"
	VolumeLost        VolumeState = "Lost"
)

// VolumeView is the PersistentVolumeClaim with the Workspace's name.
type VolumeView struct {
	State VolumeState
	// Foreign: it does not belong to the Workspace, by its label and owner's UID (D20).
	Foreign bool
	// Controlled: another object controls it, so that it cannot become the Workspace's.
	Controlled bool
	// Released: it was released to the user and is not deleted with the Workspace.
	Released bool
	// Left: it is Foreign, and the home that a deleted Workspace of the same name left behind.
	Left            bool
	UID             string
	ResourceVersion string
	// OperationID is the one that created it.
	OperationID string
	// Outdated: it was created from another spec.storage.
	Outdated bool
	// Marker describes its content.
	Marker Marker
}

// Marker describes on the volume itself what it holds, and which operation put it there.
type Marker struct {
	Content      Content // "" if there is no marker
	RestoredFrom string
	OperationID  string
}

// JobState is the observed state of a mover Job.
type JobState string

// The states of a mover Job.
const (
	JobRunning   JobState = "Running"
	JobSucceeded JobState = "Succeeded"
	JobFailed    JobState = "Failed"
	// JobTerminating: it is deleted, but it or one of its Pods still exists.
	JobTerminating JobState = "Terminating"
)

// Job is a mover Job of the Workspace. It exists as long as one of its Pods does: even a Pod that has ended keeps its volume
// (D18).
type Job struct {
	Name, UID   string
	State       JobState
	OperationID string
	Attempt     int32
	VolumeUID   string
	// PodlessSince is when the Job was created, if it has no Pod although it should; zero otherwise.
	PodlessSince time.Time
	// Reason and Code are the result of a failed mover.
	Reason Reason
	Code   Code
}

// Verdict is the result of checking an archive in the store.
type Verdict string

// The verdicts.
const (
	Unknown  Verdict = ""
	Verified Verdict = "Verified" // data and marker exist, and the marker describes the data
	Absent   Verdict = "Absent"   // the bucket exists, and data or marker do not
	Corrupt  Verdict = "Corrupt"  // the marker does not describe the data
	// StoreUnreachable, BucketMissing: nothing is known about the archive (D23).
	StoreUnreachable Verdict = "StoreUnreachable"
	BucketMissing    Verdict = "BucketMissing"
	// NotConfigured: the Secret of the store is missing or invalid. Only FindArchive distinguishes it from StoreUnreachable.
	NotConfigured Verdict = "NotConfigured"
	// NotOurs: the archive was made in another namespace. Only FindArchive returns it.
	NotOurs Verdict = "NotOurs"
	// KeptLost: the newest archive that was kept under the name is not complete. Only FindArchive returns it.
	KeptLost Verdict = "KeptLost"
	// Elsewhere: another store is recorded, and the archive is not in this one. Only the engine uses it.
	Elsewhere Verdict = "Elsewhere"
)

// ArchiveView is the result of checking the archive under one key.
type ArchiveView struct {
	Key     string
	Verdict Verdict
	Archive Archive
	// Store is the address of the store, without credentials; empty if unknown.
	Store string
	// Kept: it is marked as kept on purpose and is never collected, and is found by the Workspace's name.
	Kept bool
	// Older is the key of the newest complete archive that was kept under the name before one that is KeptLost; empty for none.
	Older string
}

// own reports whether the Workspace's own Pod exists, in any state.
func (p Pod) own() bool { return p.State != PodAbsent && !p.Foreign }

// own reports whether the Workspace's own volume exists, in any state.
func (v VolumeView) own() bool { return v.State != VolumeAbsent && !v.Foreign }

// usable reports whether a Pod can start on it.
func (v VolumeView) usable() bool {
	return v.own() && (v.State == VolumeBound || v.State == VolumeWaiting)
}
