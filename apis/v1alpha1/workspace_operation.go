package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// OperationType is a step that brings the workspace one level up or down.
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

// Operation is the operation in progress. It begins with the write of this status,
// at the resourceVersion that was read.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'NONE' || has(self.id)",message="an operation has an id"
type Operation struct {
	// type is what is being done: NONE, PROVISIONING, RESTORING, STARTING, STOPPING,
	// ARCHIVING or DELETING.
	// +required
	Type OperationType `json:"type"`

	// id identifies this operation. Objects of another operation are never used for
	// it.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	ID string `json:"id,omitempty"`

	// startedAt is when the operation began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// attempt is the number of the attempt, starting at 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Attempt int32 `json:"attempt,omitempty"`
	// attemptStartedAt is when the attempt began or will begin.
	// +optional
	AttemptStartedAt *metav1.Time `json:"attemptStartedAt,omitempty"`

	// failures counts the failed attempts by reason.
	// +optional
	Failures FailureCounts `json:"failures,omitzero"`

	// nextRetryAt is when the next attempt begins.
	// +optional
	NextRetryAt *metav1.Time `json:"nextRetryAt,omitempty"`

	// jobName is the name of the Job that archives or restores the home.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	JobName string `json:"jobName,omitempty"`

	// pointOfNoReturn is true while ARCHIVING once the archive is verified and
	// recorded and the volume is being deleted. From then on, the operation cannot
	// be cancelled.
	// +optional
	PointOfNoReturn bool `json:"pointOfNoReturn,omitempty"`

	// failed is the reason for which no attempt is left. What the operation created
	// is removed before phase becomes ERROR.
	// +optional
	Failed FailureReason `json:"failed,omitempty"`

	// progress is how far the Job is, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Progress string `json:"progress,omitempty"`
	// progressPercent is about how much of the Job is done. It is absent while that is
	// not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ProgressPercent int32 `json:"progressPercent,omitempty"`
}

// FailureCounts counts the failures of one operation, separately for each reason.
type FailureCounts struct {
	// mismatch counts objects or archives that were not as expected.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Mismatch int32 `json:"mismatch,omitempty"`
	// unreachable counts failures to reach the API server or the object store.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Unreachable int32 `json:"unreachable,omitempty"`
	// actionFailed counts actions that failed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ActionFailed int32 `json:"actionFailed,omitempty"`
	// timeout counts attempts that exceeded their time limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Timeout int32 `json:"timeout,omitempty"`
	// dataLost counts losses of the home or its archive.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	DataLost int32 `json:"dataLost,omitempty"`
}

// FailureReason is a class of failures.
//
// +kubebuilder:validation:Enum=Mismatch;Unreachable;ActionFailed;Timeout;DataLost
type FailureReason string

// ErrorInfo describes the last failure.
type ErrorInfo struct {
	// reason is the class of the failure: Mismatch, Unreachable, ActionFailed,
	// Timeout or DataLost.
	// +required
	Reason FailureReason `json:"reason"`

	// operation is the operation that failed.
	// +optional
	Operation OperationType `json:"operation,omitempty"`

	// code is what happened, as a stable, machine-readable code such as ArchiveLost.
	// The codes are the reasons of the conditions.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Code string `json:"code,omitempty"`

	// message describes what happened and what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// context has further details, such as the exit code.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Context map[string]string `json:"context,omitempty"`

	// occurredAt is when it happened.
	// +optional
	OccurredAt *metav1.Time `json:"occurredAt,omitempty"`
}
