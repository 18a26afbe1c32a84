package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimeWindowScalerStatus is what Kyklos last saw and decided.
type TimeWindowScalerStatus struct {
	// Ready, Reconciling and Degraded, always all three.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The window that decides: its name, or without one BusinessHours or
	// Custom-<hash>; OffHours outside all windows, Holiday on a holiday that is
	// treated as open.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	CurrentWindow string `json:"currentWindow,omitempty"`

	// The local date, yyyy-mm-dd, while it is a listed holiday and the mode is not
	// ignore.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	Holiday string `json:"holiday,omitempty"`

	// The replica count that the workload should have now. Absent until the first
	// decision; held at the higher value while a grace period runs.
	// +optional
	EffectiveReplicas *int32 `json:"effectiveReplicas,omitempty"`

	// The replica count last seen in the workload's status. Absent while there is
	// no workload.
	// +optional
	TargetObservedReplicas *int32 `json:"targetObservedReplicas,omitempty"`

	// When the running grace period ends and the lower count applies. Absent when
	// none runs.
	// +optional
	GracePeriodExpiry *metav1.Time `json:"gracePeriodExpiry,omitempty"`

	// The next moment at which a window starts or ends; when there is none within
	// 24 hours, the next local midnight. Never more than 24 hours ahead.
	// +optional
	NextBoundary *metav1.Time `json:"nextBoundary,omitempty"`

	// When Kyklos last changed the workload's replica count.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// What the target was last asked for, if it is a Workspace. Until the next edge of
	// the schedule nothing more is asked for.
	// +optional
	Applied *AppliedState `json:"applied,omitempty"`

	// The metadata.generation that this status is about; the status is stale while
	// it is lower.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AppliedState is what a Workspace was last asked for, and at which edge of the
// schedule: whoever decides otherwise between two edges wins.
type AppliedState struct {
	// RUNNING or STANDBY.
	// +required
	// +kubebuilder:validation:Enum=RUNNING;STANDBY
	State string `json:"state"`

	// When the window, or the time between windows, began that asked for it. Absent
	// where that is more than a month ago.
	// +optional
	Edge *metav1.Time `json:"edge,omitempty"`

	// When it was asked for.
	// +required
	At metav1.Time `json:"at"`

	// The UID of the Workspace: another one of the same name is asked anew.
	// +required
	// +kubebuilder:validation:MaxLength=36
	TargetUID string `json:"targetUID"`
}
