package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimeWindowScaler sets the replica count of one Deployment by the time of day
// and week: while a window covers the current moment its replicas apply,
// otherwise defaultReplicas do.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=timewindowscalers,singular=timewindowscaler,shortName=tws,categories=all,scope=Namespaced
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.targetRef.name`
// +kubebuilder:printcolumn:name="Window",type=string,JSONPath=`.status.currentWindow`
// +kubebuilder:printcolumn:name="Effective",type=integer,JSONPath=`.status.effectiveReplicas`
// +kubebuilder:printcolumn:name="Observed",type=integer,JSONPath=`.status.targetObservedReplicas`
// +kubebuilder:printcolumn:name="Next Boundary",type=string,JSONPath=`.status.nextBoundary`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Timezone",type=string,priority=1,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.name`
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

// TimeWindowScalerSpec is the schedule and what it scales.
type TimeWindowScalerSpec struct {
	// The workload to scale. One workload has at most one TimeWindowScaler.
	// +required
	TargetRef TargetRef `json:"targetRef"`

	// The IANA time zone in which days, times and holidays are read, such as
	// Asia/Kolkata, Europe/Berlin or UTC. Daylight saving time follows the zone's
	// rules. Empty, "Local" and offsets such as +02:00 are refused: they do not
	// say when the clocks change.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="(oldSelf.hasValue() && oldSelf.value() == self) || (self.matches('^[A-Za-z][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*$') && !(self in ['Local', 'Factory', 'localtime', 'posixrules']) && !self.startsWith('posix/') && !self.startsWith('right/') && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0)",optionalOldSelf=true,message="must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not zones",reason=FieldValueInvalid
	Timezone string `json:"timezone"`

	// The replica count outside all windows.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	DefaultReplicas int32 `json:"defaultReplicas"`

	// The time windows, 1 to 100. Windows may overlap: of all that cover a moment
	// the last in the list decides.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
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
}

// TargetRef names the workload that is scaled.
//
// +kubebuilder:validation:XValidation:rule="self.kind == 'Deployment'",message="must be Deployment: v1alpha1 scales Deployments only, v1beta1 other kinds too",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="self.apiVersion == 'apps/v1'",message="must be apps/v1, the API version of Deployment",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self.name).hasValue()",message="must be the name of a Deployment: lower case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid,fieldPath=".name"
type TargetRef struct {
	// The API version of the workload.
	// +optional
	// +kubebuilder:default="apps/v1"
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// The kind of the workload. v1alpha1 scales Deployments only; v1beta1 scales
	// other kinds too.
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

// Weekday is a day of the week by its three-letter English name.
//
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// Window is a stretch of local time on some days of the week, and the replica
// count during it.
//
// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="Invalid window: start must not equal end; for a whole day use two windows, 00:00-12:00 and 12:00-00:00",reason=FieldValueInvalid,fieldPath=".end"
// +kubebuilder:validation:XValidation:rule="self.start.matches('^([0-1][0-9]|2[0-3]):[0-5][0-9]$')",message="must be a time of day as HH:MM from 00:00 to 23:59, such as 09:00",reason=FieldValueInvalid,fieldPath=".start"
// +kubebuilder:validation:XValidation:rule="self.end.matches('^([0-1][0-9]|2[0-3]):[0-5][0-9]$')",message="must be a time of day as HH:MM from 00:00 to 23:59, such as 17:00; midnight is 00:00",reason=FieldValueInvalid,fieldPath=".end"
type Window struct {
	// The days on which the window starts: Mon, Tue, Wed, Thu, Fri, Sat, Sun, each
	// at most once.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days"`

	// The local time at which the window starts, HH:MM from 00:00 to 23:59; this
	// minute belongs to the window.
	// +required
	// +kubebuilder:validation:MaxLength=16
	Start string `json:"start"`

	// The local time at which the window ends, HH:MM from 00:00 to 23:59; this
	// minute no longer belongs to the window. An end before start means the
	// following day: Fri 22:00-02:00 ends on Saturday at 02:00.
	// +required
	// +kubebuilder:validation:MaxLength=16
	End string `json:"end"`

	// The replica count while this window decides.
	// +required
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`
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
