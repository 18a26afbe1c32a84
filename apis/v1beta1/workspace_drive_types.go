package v1beta1

// WorkspaceDrive configures how the schedule controls a Workspace.
//
// +kubebuilder:validation:XValidation:rule="!has(self.keepArchived) || !self.keepArchived || !has(self.keepArchivedAfterDays)",message="must not be set together with keepArchived: true, which leaves every archived Workspace archived",reason=FieldValueForbidden,fieldPath=".keepArchivedAfterDays"
type WorkspaceDrive struct {
	// keepArchived leaves an archived Workspace archived (desiredState PENDING) when a
	// window starts. Otherwise its home is restored.
	// +optional
	// +kubebuilder:default=false
	KeepArchived bool `json:"keepArchived"`

	// stopWhileInUse stops the Workspace at the end of a window even while it is in
	// use. Otherwise it is stopped when nobody uses it any more.
	// +optional
	// +kubebuilder:default=false
	StopWhileInUse bool `json:"stopWhileInUse"`

	// keepArchivedAfterDays leaves an archived Workspace archived when a window starts if
	// it was not used for more than this many days: its owner is away. Who sets its
	// desiredState to RUNNING gets it back, and the schedule starts it again. 0 always
	// starts it. Defaults to 7.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=365
	KeepArchivedAfterDays *int32 `json:"keepArchivedAfterDays,omitempty"`
}
