package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase is the state of a workspace: one of the levels PENDING, STANDBY and
// RUNNING, or ERROR or DELETING.
//
// +kubebuilder:validation:Enum=PENDING;STANDBY;RUNNING;ERROR;DELETING
type Phase string

// The states that cannot be desired.
const (
	// PhaseError: a person has to decide what happens to data; see the condition Stalled.
	PhaseError Phase = "ERROR"
	// PhaseDeleting: the Workspace is being deleted.
	PhaseDeleting Phase = "DELETING"
)

// VolumeContent is what the volume holds. The workspace never starts on a volume
// without a complete home: its owner would see an empty one.
//
// +kubebuilder:validation:Enum=Uninitialized;Empty;Restored;Adopted
type VolumeContent string

// What the volume holds.
const (
	// ContentUninitialized: the home is missing or incomplete.
	ContentUninitialized VolumeContent = "Uninitialized"
	// ContentEmpty: a new, empty home.
	ContentEmpty VolumeContent = "Empty"
	// ContentRestored: a home that was restored from the archive.
	ContentRestored VolumeContent = "Restored"
	// ContentAdopted: a home on a volume that a person chose by kyklos.io/adopt-volume, and on which nothing was started since.
	ContentAdopted VolumeContent = "Adopted"
)

// WorkspaceStatus is the observed state of a Workspace. It is a cache: the Pod, the
// volume and the archive are the source of truth.
//
// +kubebuilder:validation:XValidation:rule="!has(self.phase) || self.phase != 'ERROR' || !has(self.operation) || self.operation.type == 'NONE'",message="a workspace in ERROR has no operation"
// +kubebuilder:validation:XValidation:rule="!has(self.archiveKey) || self.archiveKey.startsWith('archives/')",message="archiveKey must begin with archives/"
type WorkspaceStatus struct {
	// observedGeneration is the generation of the spec that this status is based on.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is the state of the workspace: PENDING, STANDBY, RUNNING, ERROR or
	// DELETING.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// displayState is the state as shown to people. It is ARCHIVED if phase is
	// PENDING and there is an archive, otherwise it equals phase.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	DisplayState string `json:"displayState,omitempty"`

	// operation is the operation in progress.
	// +optional
	Operation *Operation `json:"operation,omitempty"`

	// archiveKey is the object that holds the archived home:
	// archives/UID/OPERATION/home.tar.gz.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ArchiveKey string `json:"archiveKey,omitempty"`

	// archive describes the archive at archiveKey.
	// +optional
	Archive *ArchiveStatus `json:"archive,omitempty"`

	// volume describes the home's volume.
	// +optional
	Volume *VolumeStatus `json:"volume,omitempty"`

	// podName is the name of the workspace's Pod. It is empty while there is no Pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PodName string `json:"podName,omitempty"`

	// address is where the first of spec.ports is reached within the cluster:
	// SERVICE.NAMESPACE.svc:PORT. It stays while the workspace is stopped. It is empty
	// without a Service; see the condition ServiceReady.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address,omitempty"`

	// runningSince is when the workspace entered RUNNING.
	// +optional
	RunningSince *metav1.Time `json:"runningSince,omitempty"`

	// standbySince is when the workspace entered STANDBY.
	// +optional
	StandbySince *metav1.Time `json:"standbySince,omitempty"`

	// lastActivityTime is when the workspace was last used, as far as its Pod or a
	// heartbeat told: to the minute, and of heartbeats those that were read. While it
	// is in use, this is when the use began; see the condition InUse.
	// +optional
	LastActivityTime *metav1.Time `json:"lastActivityTime,omitempty"`

	// unusedSince is since when the Pod tells whether the workspace is used, if it
	// never was. It is empty once it was used, and while nothing tells.
	// +optional
	UnusedSince *metav1.Time `json:"unusedSince,omitempty"`

	// retryToken is the last value of the annotation kyklos.io/retry that was acted
	// on.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RetryToken string `json:"retryToken,omitempty"`

	// restarts is how many times in a row the Pod ended within ten minutes of its
	// start.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Restarts int32 `json:"restarts,omitempty"`
	// nextStartAt is the earliest time of the next start of the Pod.
	// +optional
	NextStartAt *metav1.Time `json:"nextStartAt,omitempty"`

	// error is the last failure. It is removed when the operation completes.
	// +optional
	Error *ErrorInfo `json:"error,omitempty"`

	// conditions are Ready, VolumeReady, PodReady, ArchiveReady, Progressing,
	// Stalled, InUse and ServiceReady.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ArchiveStatus describes an archived home, as it was read back from the store.
type ArchiveStatus struct {
	// store is the object store that holds the archive: endpoint, bucket and prefix,
	// or a folder.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Store string `json:"store,omitempty"`

	// sha256 is the checksum of the object: sha256: and 64 hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	SHA256 string `json:"sha256,omitempty"`

	// sizeBytes is the size of the object.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// leftOut says what of the home is not in the archive, such as sockets: how many
	// of each kind, and the first names.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LeftOut string `json:"leftOut,omitempty"`

	// completedAt is when the archive was verified.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// volumeUID is the UID of the PersistentVolumeClaim that was archived.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	VolumeUID string `json:"volumeUID,omitempty"`
	// epoch is the epoch of that volume at the time.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	Epoch int64 `json:"epoch,omitempty"`
}

// VolumeStatus describes the home's volume.
type VolumeStatus struct {
	// name is the name of the PersistentVolumeClaim.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid is the UID of the PersistentVolumeClaim. A claim with the same name and
	// another UID is a different volume.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid,omitempty"`

	// content is what the volume holds: Uninitialized, Empty, Restored or Adopted.
	// +optional
	Content VolumeContent `json:"content,omitempty"`

	// restoredFrom is the key of the archive that the home was restored from.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RestoredFrom string `json:"restoredFrom,omitempty"`

	// epoch counts how many times a Pod was started on the volume. An archive from
	// an earlier epoch is outdated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	Epoch int64 `json:"epoch,omitempty"`
}
