package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimeWindowScalerStatus is what Kyklos last observed and decided.
type TimeWindowScalerStatus struct {
	// conditions are Ready, Reconciling and Degraded, always all three.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// currentWindow is the active window: BusinessHours or Custom-<hash>; OffHours
	// outside of all windows, and Holiday on a holiday with the mode treat-as-open.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CurrentWindow string `json:"currentWindow,omitempty"`

	// holiday is the local date, yyyy-mm-dd, if it is a listed holiday and the mode is
	// not ignore.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	Holiday string `json:"holiday,omitempty"`

	// effectiveReplicas is the replica count that the workload should have now: the
	// higher one while a grace period runs. It is absent before the first decision.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	EffectiveReplicas *int32 `json:"effectiveReplicas,omitempty"`

	// targetObservedReplicas is the replica count last observed in the workload's
	// status. It is absent if the workload does not exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TargetObservedReplicas *int32 `json:"targetObservedReplicas,omitempty"`

	// targetUID is the UID of the workload that effectiveReplicas is about. A grace
	// period does not pass on to another workload, nor to a new one with the same name.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	TargetUID string `json:"targetUID,omitempty"`

	// gracePeriodExpiry is when the running grace period ends and the lower count
	// applies. It is absent if none is running.
	// +optional
	GracePeriodExpiry *metav1.Time `json:"gracePeriodExpiry,omitempty"`

	// nextBoundary is the next time at which a window starts or ends. It is absent if
	// none does in the next 31 days.
	// +optional
	NextBoundary *metav1.Time `json:"nextBoundary,omitempty"`

	// nextChange is when effectiveReplicas will next change, and to what, by the schedule
	// and a running grace period. It is absent if nothing changes in the next 31 days.
	// +optional
	NextChange *NextChange `json:"nextChange,omitempty"`

	// lastScaleTime is when Kyklos last changed the workload's replica count.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// applied is what was last asked of the target, if changes by others are kept until
	// the next window boundary (driftPolicy). Kyklos asks for nothing else until then.
	// +optional
	Applied *Applied `json:"applied,omitempty"`

	// observedGeneration is the metadata.generation that this status describes. A lower
	// one means that the status is outdated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// NextChange is the next change of effectiveReplicas.
type NextChange struct {
	// time is when it changes.
	// +required
	Time metav1.Time `json:"time"`

	// replicas is the count from then on. It is absent if a metric will decide.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Replicas *int32 `json:"replicas,omitempty"`
}

// Applied is what was last asked of the target, and the start or end in the schedule
// that caused it: changes by others in between are kept.
type Applied struct {
	// replicas is the replica count that was asked for. It is absent for a Workspace.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Replicas *int32 `json:"replicas,omitempty"`

	// state is the desiredState of a Workspace that was set: RUNNING or STANDBY.
	// +optional
	// +kubebuilder:validation:Enum=RUNNING;STANDBY
	State string `json:"state,omitempty"`

	// edge is when the window, or the time between windows, that decided started. It is
	// absent if that was more than a month ago.
	// +optional
	Edge *metav1.Time `json:"edge,omitempty"`

	// at is when it was asked for.
	// +required
	At metav1.Time `json:"at"`

	// targetUID is the UID of the target: a new one with the same name is asked again.
	// +required
	// +kubebuilder:validation:MaxLength=36
	TargetUID string `json:"targetUID"`

	// startedByOthers is when somebody other than a schedule last set RUNNING. It counts
	// as use for spec.workspace.keepArchivedAfterDays.
	// +optional
	StartedByOthers *metav1.Time `json:"startedByOthers,omitempty"`
}
