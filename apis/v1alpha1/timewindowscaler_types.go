package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimeWindowScaler sets the replica count of one Deployment by the time of day
// and week: a window's replicas apply while it is active, and defaultReplicas
// otherwise.
//
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="kyklos.io/v1alpha1 TimeWindowScaler is deprecated; use kyklos.io/v1beta1, to which kyklos convert rewrites files"
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=timewindowscalers,singular=timewindowscaler,shortName=tws,categories=all,scope=Namespaced
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.targetRef.name`
// +kubebuilder:printcolumn:name="Window",type=string,JSONPath=`.status.currentWindow`
// +kubebuilder:printcolumn:name="Effective",type=integer,JSONPath=`.status.effectiveReplicas`
// +kubebuilder:printcolumn:name="Observed",type=integer,JSONPath=`.status.targetObservedReplicas`
// +kubebuilder:printcolumn:name="Next Change",type=string,JSONPath=`.status.nextChange.time`
// +kubebuilder:printcolumn:name="To",type=integer,JSONPath=`.status.nextChange.replicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Timezone",type=string,priority=1,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.name`
type TimeWindowScaler struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the schedule and its target.
	// +required
	Spec TimeWindowScalerSpec `json:"spec"`

	// status is what Kyklos last observed and decided. Only Kyklos writes it.
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

// TimeWindowScalerSpec is the schedule and its target.
type TimeWindowScalerSpec struct {
	// targetRef is the workload to scale. A workload can have only one TimeWindowScaler.
	// +required
	TargetRef TargetRef `json:"targetRef"`

	// timezone is the IANA time zone of days, times and holidays, such as Asia/Kolkata,
	// Europe/Berlin or UTC. Daylight saving time follows the rules of the zone. Empty,
	// "Local" and offsets such as +02:00 are refused: they do not define clock changes.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="(oldSelf.hasValue() && oldSelf.value() == self) || (self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && !(self in ['Local', 'Factory', 'localtime', 'posixrules']) && !self.startsWith('posix/') && !self.startsWith('right/') && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0)",optionalOldSelf=true,message="must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not allowed",reason=FieldValueInvalid
	Timezone string `json:"timezone"`

	// defaultReplicas is the replica count outside of all windows.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	DefaultReplicas int32 `json:"defaultReplicas"`

	// windows are the time windows, 1 to 100. If windows overlap, the last one in the
	// list wins.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Windows []Window `json:"windows"`

	// holidays configures the schedule on holidays. By default holidays are ordinary
	// days.
	// +optional
	Holidays *Holidays `json:"holidays,omitempty"`

	// gracePeriodSeconds is how many seconds scaling down is delayed. Scaling up is
	// never delayed, and cancels the wait.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	GracePeriodSeconds int32 `json:"gracePeriodSeconds"`

	// pause stops Kyklos from changing the workload. It still computes the schedule and
	// reports it in status.
	// +optional
	// +kubebuilder:default=false
	Pause bool `json:"pause"`
}

// TargetRef names the workload to scale.
//
// +kubebuilder:validation:XValidation:rule="self.kind == 'Deployment'",message="must be Deployment: v1alpha1 supports no other kinds; use v1beta1",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="self.apiVersion == 'apps/v1'",message="must be apps/v1, the API version of Deployment",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self.name).hasValue()",message="must be a valid Deployment name: lowercase letters, digits, '-' and '.', starting and ending with a letter or digit",reason=FieldValueInvalid,fieldPath=".name"
type TargetRef struct {
	// apiVersion is the API version of the workload.
	// +optional
	// +kubebuilder:default="apps/v1"
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of the workload. v1alpha1 supports Deployments only; v1beta1
	// supports other kinds too.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// name is the name of the workload.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace is the namespace of the workload. It must be the TimeWindowScaler's own,
	// which is the default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// Weekday is a day of the week by its three-letter English name.
//
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// Window is a range of local time on some days of the week, and the replica
// count during it.
//
// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="Invalid window: start must not equal end; for a whole day use two windows, 00:00-12:00 and 12:00-00:00",reason=FieldValueInvalid,fieldPath=".end"
// +kubebuilder:validation:XValidation:rule="self.start.matches('^([0-1][0-9]|2[0-3]):[0-5][0-9]$')",message="must be a time of day as HH:MM from 00:00 to 23:59, such as 09:00",reason=FieldValueInvalid,fieldPath=".start"
// +kubebuilder:validation:XValidation:rule="self.end.matches('^([0-1][0-9]|2[0-3]):[0-5][0-9]$')",message="must be a time of day as HH:MM from 00:00 to 23:59, such as 17:00; midnight is 00:00",reason=FieldValueInvalid,fieldPath=".end"
type Window struct {
	// days are the days on which the window starts: Mon, Tue, Wed, Thu, Fri, Sat, Sun,
	// each at most once.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days"`

	// start is the local time at which the window starts, HH:MM from 00:00 to 23:59. The
	// window includes this minute.
	// +required
	// +kubebuilder:validation:MaxLength=16
	Start string `json:"start"`

	// end is the local time at which the window ends, HH:MM from 00:00 to 23:59. The
	// window does not include this minute. An end before start is on the following day:
	// Fri 22:00-02:00 ends on Saturday at 02:00.
	// +required
	// +kubebuilder:validation:MaxLength=16
	End string `json:"end"`

	// replicas is the replica count while the window is active.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Replicas int32 `json:"replicas"`
}

// HolidayMode is what happens on a holiday.
//
// +kubebuilder:validation:Enum=ignore;treat-as-closed;treat-as-open
type HolidayMode string

// The holiday modes.
const (
	HolidayIgnore HolidayMode = "ignore"
	HolidayClosed HolidayMode = "treat-as-closed"
	HolidayOpen   HolidayMode = "treat-as-open"
)

// Holidays configures the schedule on holidays. A holiday lasts from local
// midnight to local midnight.
//
// +kubebuilder:validation:XValidation:rule="self.mode == 'ignore' || has(self.sourceRef)",message="must name the ConfigMap that lists the holidays, unless mode is ignore",reason=FieldValueRequired,fieldPath=".sourceRef"
type Holidays struct {
	// mode is what happens on a holiday: ignore makes it an ordinary day,
	// treat-as-closed uses defaultReplicas, treat-as-open uses the highest replicas of
	// all windows.
	// +optional
	// +kubebuilder:default=ignore
	Mode HolidayMode `json:"mode,omitempty"`

	// sourceRef is the ConfigMap, in the same namespace, that lists the holidays.
	// +optional
	SourceRef *HolidaySource `json:"sourceRef,omitempty"`
}

// HolidaySource names a ConfigMap whose keys are dates, yyyy-mm-dd; values are
// ignored.
//
// +kubebuilder:validation:XValidation:rule="!has(self.name) || self.name.size() == 0 || !format.dns1123Subdomain().validate(self.name).hasValue()",message="must be a valid ConfigMap name: lowercase letters, digits, '-' and '.', starting and ending with a letter or digit",reason=FieldValueInvalid,fieldPath=".name"
type HolidaySource struct {
	// name is the name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
