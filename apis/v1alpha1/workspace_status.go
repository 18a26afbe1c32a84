package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase is the state that a workspace is in: a level, or ERROR or DELETING,
// which are outside the order.
//
// +kubebuilder:validation:Enum=PENDING;STANDBY;RUNNING;ERROR;DELETING
type Phase string

// The states beside the desired ones.
const (
	// PhaseError: an operation has failed for good; see the condition Stalled.
	PhaseError Phase = "ERROR"
	// PhaseDeleting: the Workspace is being deleted.
	PhaseDeleting Phase = "DELETING"
)

// VolumeContent is what the volume holds. A volume whose content was never made
// is no home: to start on it would show its owner an empty one.
//
// +kubebuilder:validation:Enum=Uninitialized;Empty;Restored
type VolumeContent string

// What the volume holds.
const (
	// ContentUninitialized: nothing was put there yet, or not all of it.
	ContentUninitialized VolumeContent = "Uninitialized"
	// ContentEmpty: a new home.
	ContentEmpty VolumeContent = "Empty"
	// ContentRestored: a home from the archive.
	ContentRestored VolumeContent = "Restored"
)

// WorkspaceStatus is what Kyklos last saw and does. It is a cache: the Pod, the
// volume and the archive are the truth.
//
// +kubebuilder:validation:XValidation:rule="!has(self.phase) || self.phase != 'ERROR' || !has(self.operation) || self.operation.type == 'NONE'",message="a workspace in ERROR has no operation"
// +kubebuilder:validation:XValidation:rule="!has(self.archiveKey) || self.archiveKey.startsWith('archives/')",message="archiveKey must begin with archives/"
type WorkspaceStatus struct {
	// The generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The state: PENDING, STANDBY, RUNNING, ERROR or DELETING.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// The state as people see it: PENDING with an archive is ARCHIVED.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	DisplayState string `json:"displayState,omitempty"`

	// The state before ERROR.
	// +optional
	PreviousPhase Phase `json:"previousStatus,omitempty"`

	// What Kyklos does at present.
	// +optional
	Operation *Operation `json:"operation,omitempty"`

	// The object that holds the archived home: archives/UID/OPERATION/home.tar.gz.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ArchiveKey string `json:"archiveKey,omitempty"`

	// What is known of that object.
	// +optional
	Archive *ArchiveStatus `json:"archive,omitempty"`

	// The volume of the home.
	// +optional
	Volume *VolumeStatus `json:"volume,omitempty"`

	// The Pod, while there is one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PodName string `json:"podName,omitempty"`

	// Since when the workspace runs.
	// +optional
	RunningSince *metav1.Time `json:"runningSince,omitempty"`

	// Since when it is in STANDBY.
	// +optional
	StandbySince *metav1.Time `json:"standbySince,omitempty"`

	// The last activity that a heartbeat told of.
	// +optional
	LastActivityTime *metav1.Time `json:"lastActivityTime,omitempty"`

	// The value of the annotation kyklos.io/retry that was last followed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RetryToken string `json:"retryToken,omitempty"`

	// How often in a row the Pod has died within ten minutes of its start.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`
	// Before then the Pod is not started again.
	// +optional
	NextStartAt *metav1.Time `json:"nextStartAt,omitempty"`

	// What went wrong last.
	// +optional
	Error *ErrorInfo `json:"error,omitempty"`

	// The conditions Ready, VolumeReady, PodReady, ArchiveReady, Progressing and
	// Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ArchiveStatus is what is known of an archived home. It describes the object as
// it was read back from the store.
type ArchiveStatus struct {
	// The store that holds it: its endpoint, bucket and prefix, or its folder.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Store string `json:"store,omitempty"`

	// The sum of the object: sha256: and 64 hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	SHA256 string `json:"sha256,omitempty"`

	// The size of the object in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// When it was complete.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// The volume that it was made of.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	VolumeUID string `json:"volumeUID,omitempty"`
	// How often a Pod had been started on that volume by then.
	// +optional
	Epoch int64 `json:"epoch,omitempty"`
}

// VolumeStatus is the volume of the home.
type VolumeStatus struct {
	// The PersistentVolumeClaim.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// Its UID: a volume of the same name is not the same volume.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid,omitempty"`

	// What it holds.
	// +optional
	Content VolumeContent `json:"content,omitempty"`

	// The archive that it was restored from.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RestoredFrom string `json:"restoredFrom,omitempty"`

	// How often a Pod was started on it. An archive of an earlier epoch is old.
	// +optional
	Epoch int64 `json:"epoch,omitempty"`
}
