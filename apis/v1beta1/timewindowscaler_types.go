package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TimeWindowScaler sets the replica count of one workload by the time of day and
// week: while a window covers the current moment its replicas apply, otherwise
// defaultReplicas do.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=timewindowscalers,singular=timewindowscaler,shortName=tws,categories=all,scope=Namespaced
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.targetRef.name`
// +kubebuilder:printcolumn:name="Window",type=string,JSONPath=`.status.currentWindow`
// +kubebuilder:printcolumn:name="Effective",type=integer,JSONPath=`.status.effectiveReplicas`
// +kubebuilder:printcolumn:name="Observed",type=integer,JSONPath=`.status.targetObservedReplicas`
// +kubebuilder:printcolumn:name="Next Boundary",type=string,JSONPath=`.status.nextBoundary`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Kind",type=string,priority=1,JSONPath=`.spec.targetRef.kind`
// +kubebuilder:printcolumn:name="Timezone",type=string,priority=1,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.kind`
type TimeWindowScaler struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The schedule and what it scales.
	// +required
	Spec TimeWindowScalerSpec `json:"spec"`

	// What Kyklos last saw and decided. Written by Kyklos only.
	// +optional
	Status TimeWindowScalerStatus `json:"status,omitzero"`
}

// TimeWindowScalerList is a list of TimeWindowScalers.
//
// +kubebuilder:object:root=true
type TimeWindowScalerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TimeWindowScaler `json:"items"`
}

// The CEL rules ask for has() of required fields too: that a rule cannot run is, unlike its "no", not
// forgiven where an object was stored without them, and would block writes of status and finalizers (A4).

// TimeWindowScalerSpec is the schedule and what it scales.
//
// +kubebuilder:validation:XValidation:rule="has(self.baselineReplicas) || (!string(self.defaultReplicas).endsWith('%') && (!has(self.windows) || self.windows.all(w, !has(w.replicas) || !string(w.replicas).endsWith('%'))))",message="must be given where replicas or defaultReplicas is a percentage: it says of how many",reason=FieldValueRequired,fieldPath=".baselineReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || self.windows.all(w, !has(w.timezone) || (oldSelf.hasValue() && has(oldSelf.value().windows) && oldSelf.value().windows.exists(o, has(o.timezone) && o.timezone == w.timezone)) || !w.timezone.matches('^[A-Za-z][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*$') || timestamp('2000-01-01T00:00:00Z').getHours(w.timezone) >= 0)",optionalOldSelf=true,message="a window's timezone must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC",reason=FieldValueInvalid,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || !has(self.targetRef) || !has(self.targetRef.kind) || self.targetRef.kind != 'DaemonSet' || self.targetRef.apiVersion != 'apps/v1' || self.windows.all(w, !has(w.metric))",message="no window may have a metric: a DaemonSet runs on each node or, at 0, on none, and has no count that a metric could set",reason=FieldValueForbidden,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || !has(self.targetRef) || !has(self.targetRef.kind) || self.targetRef.kind != 'Workspace' || self.targetRef.apiVersion != 'kyklos.io/v1alpha1' || self.windows.all(w, !has(w.metric))",message="no window may have a metric: a Workspace runs or is stopped, and has no count that a metric could set",reason=FieldValueForbidden,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.workspace) || (has(self.targetRef) && has(self.targetRef.kind) && self.targetRef.kind == 'Workspace' && self.targetRef.apiVersion == 'kyklos.io/v1alpha1')",message="must be left out: it is for a target of the kind Workspace in kyklos.io/v1alpha1",reason=FieldValueForbidden,fieldPath=".workspace"
type TimeWindowScalerSpec struct {
	// The workload to scale. One workload has at most one TimeWindowScaler.
	// +required
	TargetRef TargetRef `json:"targetRef"`

	// The IANA time zone in which holidays and, unless a window has its own, days
	// and times are read, such as Asia/Kolkata, Europe/Berlin or UTC. Daylight
	// saving time follows the zone's rules. Empty, "Local" and offsets such as +02:00
	// are refused: they do not say when the clocks change.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="(oldSelf.hasValue() && oldSelf.value() == self) || (self.matches('^[A-Za-z][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*$') && !(self in ['Local', 'Factory', 'localtime', 'posixrules']) && !self.startsWith('posix/') && !self.startsWith('right/') && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0)",optionalOldSelf=true,message="must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not zones",reason=FieldValueInvalid
	Timezone string `json:"timezone"`

	// The replica count that percentages refer to. Required where replicas or
	// defaultReplicas is a percentage.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	BaselineReplicas *int32 `json:"baselineReplicas,omitempty"`

	// The replica count outside all windows: a number, or a percentage of
	// baselineReplicas from 0% to 1000%, rounded up.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 2147483647 : self.matches('^([0-9]|[1-9][0-9]{1,2}|1000)%$')",message="must be a number from 0 to 2147483647 without quotes, such as 3, or a percentage of baselineReplicas from 0% to 1000%, such as 50%",reason=FieldValueInvalid
	DefaultReplicas intstr.IntOrString `json:"defaultReplicas"`

	// The time windows, 1 to 100, at most 20 of them with a metric. Windows may
	// overlap: of all that cover a moment the last in the list decides.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(w, !has(w.name) || self.exists_one(other, has(other.name) && other.name == w.name))",message="two windows have the same name; a name must be unique in the list",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self.filter(w, has(w.metric)).size() <= 20",message="at most 20 windows may have a metric",reason=FieldValueInvalid
	Windows []Window `json:"windows"`

	// What happens on holidays. Left out, holidays are days like any other.
	// +optional
	Holidays *Holidays `json:"holidays,omitempty"`

	// How many seconds a lower replica count is held back after it becomes due. A
	// rise in the meantime cancels the wait; rises themselves are never held back.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	GracePeriodSeconds int32 `json:"gracePeriodSeconds"`

	// While true, Kyklos goes on computing and reporting in status, and leaves the
	// workload alone.
	// +optional
	// +kubebuilder:default=false
	Pause bool `json:"pause"`

	// How a target of the kind Workspace is driven. For other targets it is left out.
	// +optional
	Workspace *WorkspaceDrive `json:"workspace,omitempty"`
}

// WorkspaceDrive says how far the schedule goes with a Workspace.
type WorkspaceDrive struct {
	// While true, a desiredState that somebody else writes between two window
	// boundaries is set right at once; also what the Workspace's own
	// standbyTTLSeconds asks for. While false, it stays until the next boundary.
	// +optional
	// +kubebuilder:default=false
	Enforce bool `json:"enforce"`

	// While true, the start of a window leaves an archived Workspace archived
	// (desiredState PENDING). While false, it fetches the home back.
	// +optional
	// +kubebuilder:default=false
	KeepArchived bool `json:"keepArchived"`
}

// TargetRef names the workload that is scaled: a Deployment, a StatefulSet, a
// DaemonSet (0 suspends it, any other number lets it run), a Workspace of
// kyklos.io/v1alpha1 (0 stops it, any other number starts it), or an object of
// any other kind with a scale subresource.
//
// +kubebuilder:validation:XValidation:rule="!has(self.kind) || self.kind.matches('^[A-Z][A-Za-z0-9]*$')",message="must be a kind, which begins with a capital letter, such as Deployment, StatefulSet or DaemonSet",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="self.apiVersion.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$')",message="must be the API version of the workload, such as apps/v1 or argoproj.io/v1alpha1",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="self.apiVersion == 'apps/v1' || !self.apiVersion.matches('^apps/v[0-9][a-z0-9]*$')",message="must be apps/v1, which it is when left out: the other versions of the group apps are gone",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="self.apiVersion != 'apps/v1' || !has(self.kind) || self.kind in ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'] || !self.kind.matches('^[A-Z][A-Za-z0-9]*$')",message="must be Deployment, StatefulSet, DaemonSet or ReplicaSet where apiVersion is apps/v1, which it is when left out; for a kind of another group set apiVersion",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !format.dns1123Subdomain().validate(self.name).hasValue()",message="must be the name of a workload: lower case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid,fieldPath=".name"
type TargetRef struct {
	// The API version of the workload. Left out, it is apps/v1.
	// +optional
	// +kubebuilder:default="apps/v1"
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// The kind of the workload: Deployment, StatefulSet, DaemonSet, which 0 suspends
	// and any other count lets run, Workspace, which 0 stops and any other count
	// starts, or another kind with a scale subresource.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// The name of the workload.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// The namespace of the workload. It is the TimeWindowScaler's own; left out,
	// it is filled in.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// HolidayMode says what a holiday does to the schedule.
//
// +kubebuilder:validation:Enum=ignore;treat-as-closed;treat-as-open
type HolidayMode string

// The holiday modes.
const (
	HolidayIgnore HolidayMode = "ignore"
	HolidayClosed HolidayMode = "treat-as-closed"
	HolidayOpen   HolidayMode = "treat-as-open"
)

// Holidays says where holidays are listed and what they do. A holiday lasts
// from local midnight to local midnight.
//
// +kubebuilder:validation:XValidation:rule="self.mode == 'ignore' || has(self.sourceRef)",message="must name the ConfigMap that lists the holidays, unless mode is ignore",reason=FieldValueRequired,fieldPath=".sourceRef"
type Holidays struct {
	// What a holiday does: ignore leaves it a day like any other, treat-as-closed
	// uses defaultReplicas, treat-as-open uses the highest replicas of all
	// windows.
	// +optional
	// +kubebuilder:default=ignore
	Mode HolidayMode `json:"mode,omitempty"`

	// The ConfigMap, in the same namespace, that lists the holidays.
	// +optional
	SourceRef *HolidaySource `json:"sourceRef,omitempty"`
}

// HolidaySource names a ConfigMap whose keys are dates as yyyy-mm-dd; the
// values are not read.
type HolidaySource struct {
	// The name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
