package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OperationType is what Kyklos does to bring the workspace one level up or down.
//
// +kubebuilder:validation:Enum=NONE;PROVISIONING;RESTORING;STARTING;STOPPING;ARCHIVING;DELETING
type OperationType string

// The operations.
const (
	OperationNone         OperationType = "NONE"
	OperationProvisioning OperationType = "PROVISIONING"
	OperationRestoring    OperationType = "RESTORING"
	OperationStarting     OperationType = "STARTING"
	OperationStopping     OperationType = "STOPPING"
	OperationArchiving    OperationType = "ARCHIVING"
	OperationDeleting     OperationType = "DELETING"
)

// Operation is one claimed operation. The claim is the write of this status with
// the resourceVersion that was read.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'NONE' || has(self.id)",message="an operation has an id"
type Operation struct {
	// What is done.
	// +required
	Type OperationType `json:"type"`

	// The claim's own id. Nothing of another claim is ever taken for its work.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	ID string `json:"id,omitempty"`

	// When it was claimed.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// The attempt, from 1 on.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// When the attempt began, or begins.
	// +optional
	AttemptStartedAt *metav1.Time `json:"attemptStartedAt,omitempty"`

	// How often it failed, for each reason by itself.
	// +optional
	Failures FailureCounts `json:"failures,omitzero"`

	// When the next attempt is made.
	// +optional
	NextRetryAt *metav1.Time `json:"nextRetryAt,omitempty"`

	// The Job that moves the home.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	JobName string `json:"jobName,omitempty"`

	// ARCHIVING: the archive is verified and recorded, and the volume is being
	// deleted. From here on it cannot be cancelled.
	// +optional
	PointOfNoReturn bool `json:"pointOfNoReturn,omitempty"`

	// No attempt is left: what the operation started is being taken away before the
	// state becomes ERROR, for this reason.
	// +optional
	Failed FailureReason `json:"failed,omitempty"`

	// How far the Job has come, in words for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Progress string `json:"progress,omitempty"`
}

// FailureCounts are the failures of one operation, each reason for itself: two
// calls that failed and one timeout are not three of either.
type FailureCounts struct {
	// +optional
	Mismatch int32 `json:"mismatch,omitempty"`
	// +optional
	Unreachable int32 `json:"unreachable,omitempty"`
	// +optional
	ActionFailed int32 `json:"actionFailed,omitempty"`
	// +optional
	Timeout int32 `json:"timeout,omitempty"`
	// +optional
	DataLost int32 `json:"dataLost,omitempty"`
}

// FailureReason is a class of failures.
//
// +kubebuilder:validation:Enum=Mismatch;Unreachable;ActionFailed;Timeout;DataLost
type FailureReason string

// ErrorInfo is what went wrong last.
type ErrorInfo struct {
	// Mismatch, Unreachable, ActionFailed, Timeout or DataLost.
	// +required
	Reason FailureReason `json:"reason"`

	// The operation that failed.
	// +optional
	Operation OperationType `json:"operation,omitempty"`

	// What happened, in a word that programs can rely on.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Word string `json:"word,omitempty"`

	// What happened, and what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// Further facts, such as the exit code.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Context map[string]string `json:"context,omitempty"`

	// When it happened.
	// +optional
	OccurredAt *metav1.Time `json:"occurredAt,omitempty"`
}
