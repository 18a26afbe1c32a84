package lifecycle

// Observation is what was seen of the objects that belong to a Workspace.
type Observation struct {
	// Failed: something could not be read. Nothing else of the observation counts then (W45).
	Failed bool
	// Live: this, the Workspace and its status were read from the API server, not from a cache. PodsLive: so were all Pods that use the volume.
	Live, PodsLive bool
	Pod            Pod
	Volume         VolumeView
	Jobs           []Job
	// OtherPods counts Pods that use the volume beside the Workspace's own and its Jobs', in any phase.
	OtherPods int
}

// PodState is what is seen of the Pod object. "Not running" is not "no writer": only Absent is (D3).
type PodState string

// What is seen of the Pod object.
const (
	PodAbsent      PodState = ""
	PodNotReady    PodState = "NotReady"
	PodReady       PodState = "Ready"
	PodTerminating PodState = "Terminating"
	PodEnded       PodState = "Ended" // phase Failed or Succeeded
)

// Pod is the Pod of the Workspace's name.
type Pod struct {
	State PodState
	// Foreign: it is not the Workspace's, by its owner's UID.
	Foreign bool
	UID     string
	// OperationID and Attempt are those under which it was made.
	OperationID string
	Attempt     int32
}

// VolumeState is what is seen of the claim object.
type VolumeState string

// What is seen of the claim object (D17, D19).
const (
	VolumeAbsent      VolumeState = ""
	VolumePending     VolumeState = "Pending"
	VolumeWaiting     VolumeState = "WaitForFirstConsumer" // Pending until a Pod uses it: usable
	VolumeBound       VolumeState = "Bound"
	VolumeTerminating VolumeState = "Terminating"
	VolumeLost        VolumeState = "Lost"
)

// VolumeView is the volume of the Workspace's name.
type VolumeView struct {
	State VolumeState
	// Foreign: it is not the Workspace's, by its label and owner's UID (D20).
	Foreign bool
	// Released: it was left to its owner, and goes not with the Workspace.
	Released        bool
	UID             string
	ResourceVersion string
	// OperationID is the one under which it was made.
	OperationID string
	// Marker says what was put there.
	Marker Marker
}

// Marker says on the volume itself what was put there, and by which operation.
type Marker struct {
	Content      Content // "" if there is no marker
	RestoredFrom string
	OperationID  string
}

// JobState is what is seen of a mover Job.
type JobState string

// What is seen of a mover Job.
const (
	JobRunning   JobState = "Running"
	JobSucceeded JobState = "Succeeded"
	JobFailed    JobState = "Failed"
	// JobTerminating: it is deleted, but it or one of its Pods is still there.
	JobTerminating JobState = "Terminating"
)

// Job is a mover Job of the Workspace, seen as long as it or one of its Pods exists: even a completed
// Pod holds its volume (D18).
type Job struct {
	Name, UID   string
	State       JobState
	OperationID string
	Attempt     int32
	VolumeUID   string
	// Reason and Code are what the mover said when it failed.
	Reason Reason
	Code   Code
}

// Verdict is what a look into the store found.
type Verdict string

// What a look into the store found.
const (
	Unknown  Verdict = ""
	Verified Verdict = "Verified" // data and marker are there, and the marker describes the data
	Absent   Verdict = "Absent"   // the bucket is there, and data or marker are not
	Corrupt  Verdict = "Corrupt"  // the marker does not describe the data
	// StoreUnreachable, BucketMissing: nothing is known of the archive (D23).
	StoreUnreachable Verdict = "StoreUnreachable"
	BucketMissing    Verdict = "BucketMissing"
	// NotConfigured: the Secret of the store is missing or invalid. Only FindArchive tells it from StoreUnreachable.
	NotConfigured Verdict = "NotConfigured"
	// Elsewhere: not this store is recorded to hold it, and it is not in this one. Only the engine itself says so.
	Elsewhere Verdict = "Elsewhere"
)

// ArchiveView is what a look into the store found under one key.
type ArchiveView struct {
	Key     string
	Verdict Verdict
	Archive Archive
	// Store names the store that was looked into, without its credentials; "" if it is not known.
	Store string
	// Kept: it is marked as left behind on purpose, and is never collected.
	Kept bool
}

// own reports whether the Workspace's own Pod is there, in whatever state.
func (p Pod) own() bool { return p.State != PodAbsent && !p.Foreign }

// own reports whether the Workspace's own volume is there, in whatever state.
func (v VolumeView) own() bool { return v.State != VolumeAbsent && !v.Foreign }

// usable reports whether a Pod can be started on it.
func (v VolumeView) usable() bool {
	return v.own() && (v.State == VolumeBound || v.State == VolumeWaiting)
}
