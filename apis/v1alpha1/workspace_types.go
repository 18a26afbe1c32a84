package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workspace is a development environment: a Pod with a home directory on a volume,
// which can be archived and restored.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=workspaces,singular=workspace,shortName=ws,categories=all,scope=Namespaced
// +kubebuilder:printcolumn:name="Desired",type=string,JSONPath=`.spec.desiredState`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.displayState`
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.operation.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Progress",type=string,priority=1,JSONPath=`.status.operation.progress`
// +kubebuilder:printcolumn:name="Owner",type=string,priority=1,JSONPath=`.spec.owner`
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.address`
// +kubebuilder:printcolumn:name="Image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 50 && !self.metadata.name.contains('.')",message="the name must have at most 50 characters and no dots: the Pod, the volume and the Jobs are named after it",reason=FieldValueInvalid,fieldPath=".metadata"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.spec.archive) || has(self.spec.archive) || !has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase != 'PENDING' || !has(oldSelf.status.archiveKey)",message="must stay while the home is archived: set desiredState to STANDBY first, which restores it",reason=FieldValueForbidden,fieldPath=".spec.archive"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.restoreFrom) || (has(oldSelf.spec.restoreFrom) && self.spec.restoreFrom == oldSelf.spec.restoreFrom) || !has(oldSelf.status) || (!has(oldSelf.status.archiveKey) && !has(oldSelf.status.volume) && (!has(oldSelf.status.operation) || oldSelf.status.operation.type == 'NONE'))",message="must not change once there is a home, except to be removed: it says what a new workspace begins with",reason=FieldValueForbidden,fieldPath=".spec.restoreFrom"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'PENDING' || oldSelf.status.phase == 'ERROR' && (!has(oldSelf.status.volume) || !has(oldSelf.status.volume.content) || oldSelf.status.volume.content == 'Uninitialized') || !has(self.spec.storage) || !has(oldSelf.spec.storage) || has(self.spec.storage.storageClassName) == has(oldSelf.spec.storage.storageClassName) && (!has(self.spec.storage.storageClassName) || self.spec.storage.storageClassName == oldSelf.spec.storage.storageClassName)",message="must not change while the home is on its volume: archive it first, with desiredState PENDING, and then change this",reason=FieldValueForbidden,fieldPath=".spec.storage.storageClassName"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'PENDING' || oldSelf.status.phase == 'ERROR' && (!has(oldSelf.status.volume) || !has(oldSelf.status.volume.content) || oldSelf.status.volume.content == 'Uninitialized') || !has(self.spec.storage) || !has(oldSelf.spec.storage) || self.spec.storage.accessMode == oldSelf.spec.storage.accessMode",message="must not change while the home is on its volume: archive it first, with desiredState PENDING, and then change this",reason=FieldValueForbidden,fieldPath=".spec.storage.accessMode"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'PENDING' || oldSelf.status.phase == 'ERROR' && (!has(oldSelf.status.volume) || !has(oldSelf.status.volume.content) || oldSelf.status.volume.content == 'Uninitialized') || !has(self.spec.storage) || !has(oldSelf.spec.storage) || !isQuantity(self.spec.storage.size) || !isQuantity(oldSelf.spec.storage.size) || quantity(self.spec.storage.size).compareTo(quantity(oldSelf.spec.storage.size)) >= 0",message="must not shrink while the home is on its volume: archive it first, with desiredState PENDING, and then change this",reason=FieldValueForbidden,fieldPath=".spec.storage.size"
type Workspace struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata. The name has at most 50 characters
	// and no dots.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the workspace.
	// +required
	Spec WorkspaceSpec `json:"spec"`

	// status is the observed state of the workspace. Only Kyklos writes it.
	// +optional
	Status WorkspaceStatus `json:"status,omitzero"`
}

// WorkspaceList is a list of Workspaces.
//
// +kubebuilder:object:root=true
type WorkspaceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workspace `json:"items"`
}

// DesiredState is a state that can be desired. The states are levels: Kyklos goes
// from one to the next and never skips one.
//
// +kubebuilder:validation:Enum=PENDING;STANDBY;RUNNING
type DesiredState string

// The states that can be desired.
const (
	// DesiredPending: no Pod and no volume; the home is in the archive.
	DesiredPending DesiredState = "PENDING"
	// DesiredStandby: the home is on its volume, no Pod runs.
	DesiredStandby DesiredState = "STANDBY"
	// DesiredRunning: the Pod runs.
	DesiredRunning DesiredState = "RUNNING"
)

// DeletionPolicy is what happens to the home when the Workspace is deleted.
//
// +kubebuilder:validation:Enum=Delete;ArchiveThenDelete;Retain
type DeletionPolicy string

// The deletion policies.
const (
	// DeletionDelete deletes the volume, and later the archive.
	DeletionDelete DeletionPolicy = "Delete"
	// DeletionArchive archives the home first.
	DeletionArchive DeletionPolicy = "ArchiveThenDelete"
	// DeletionRetain keeps the volume.
	DeletionRetain DeletionPolicy = "Retain"
)

// WorkspaceSpec is the desired state of a Workspace.
//
// +kubebuilder:validation:XValidation:rule="has(self.owner) == has(oldSelf.owner) && (!has(self.owner) || self.owner == oldSelf.owner)",message="must not change: a home belongs to its first owner",reason=FieldValueForbidden,fieldPath=".owner"
// +kubebuilder:validation:XValidation:rule="self.deletionPolicy != 'ArchiveThenDelete' || has(self.archive)",message="must not be ArchiveThenDelete without archive: there is no store to archive the home in",reason=FieldValueInvalid,fieldPath=".deletionPolicy"
// +kubebuilder:validation:XValidation:rule="!has(self.restoreFrom) || self.restoreFrom == 'empty' || has(self.archive)",message="must not name an archive without archive: there is no store to restore the home from",reason=FieldValueInvalid,fieldPath=".restoreFrom"
type WorkspaceSpec struct {
	// desiredState is the state that the workspace should be in: PENDING (archived),
	// STANDBY (stopped, with its volume) or RUNNING. Users, the idle timers and a
	// TimeWindowScaler write it; the last write wins.
	// +optional
	// +kubebuilder:default=RUNNING
	DesiredState DesiredState `json:"desiredState"`

	// owner is who the workspace belongs to. Running workspaces are counted and
	// limited per owner, within the namespace. Defaults to the namespace. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Owner string `json:"owner,omitempty"`

	// pause stops all changes. Kyklos keeps observing the workspace and reporting
	// its status.
	// +optional
	// +kubebuilder:default=false
	Pause bool `json:"pause"`

	// WorkspacePod describes the Pod. Changes apply from its next start on.
	WorkspacePod `json:",inline"`

	// storage describes the volume of the home directory.
	// +optional
	// +kubebuilder:default={}
	Storage WorkspaceStorage `json:"storage,omitzero"`

	// standbyTTLSeconds is how long a running workspace may be inactive before it is
	// stopped: desiredState becomes STANDBY. 0 disables this. If nothing tells whether
	// it is used (see activity), it is not stopped.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	StandbyTTLSeconds int32 `json:"standbyTTLSeconds"`

	// archiveTTLSeconds is how long a workspace may be in STANDBY and inactive
	// before its home is archived and the volume deleted: desiredState becomes
	// PENDING. 0 disables this.
	// +optional
	// +kubebuilder:default=86400
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ArchiveTTLSeconds int32 `json:"archiveTTLSeconds"`

	// archive is where the home is archived. Without it, the workspace cannot be
	// archived and keeps its volume.
	// +optional
	Archive *WorkspaceArchive `json:"archive,omitempty"`

	// restoreFrom is what a new workspace begins with: the key of an archive that was
	// made in this namespace, as in status.archiveKey of another workspace; latest, the
	// newest archive that was kept when a workspace of this name was deleted; or empty,
	// an empty home. If it is not set, it is latest if there is such an archive,
	// otherwise empty. Once there is a home, it can only be removed.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(latest|empty|archives(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){2}/home[.]tar[.]gz)$')",message="must be latest, empty, or the key of an archive, archives/UID/OPERATION/home.tar.gz, as in status.archiveKey",reason=FieldValueInvalid
	RestoreFrom string `json:"restoreFrom,omitempty"`

	// timeouts limit how long one attempt of each operation may take.
	// +optional
	// +kubebuilder:default={}
	Timeouts WorkspaceTimeouts `json:"timeouts,omitzero"`

	// deletionPolicy is what happens to the home when the Workspace is deleted:
	// Delete, ArchiveThenDelete or Retain, which keeps the volume.
	// +optional
	// +kubebuilder:default=Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy"`
}

// WorkspaceTimeouts limit, in seconds, how long one attempt of each operation may
// take.
type WorkspaceTimeouts struct {
	// provisioningSeconds limits creating the volume.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ProvisioningSeconds int32 `json:"provisioningSeconds"`

	// restoringSeconds limits creating the volume and restoring the home from the
	// archive.
	// +optional
	// +kubebuilder:default=1800
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	RestoringSeconds int32 `json:"restoringSeconds"`

	// archivingSeconds limits archiving the home and deleting the volume.
	// +optional
	// +kubebuilder:default=1800
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ArchivingSeconds int32 `json:"archivingSeconds"`

	// startingSeconds limits starting the Pod until it is ready.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	StartingSeconds int32 `json:"startingSeconds"`

	// stoppingSeconds limits stopping the Pod until it is gone.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	StoppingSeconds int32 `json:"stoppingSeconds"`

	// deletingSeconds is the time after which a slow deletion is reported. The
	// deletion continues.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	DeletingSeconds int32 `json:"deletingSeconds"`
}
