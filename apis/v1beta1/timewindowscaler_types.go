package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TimeWindowScaler sets the replica count of one workload by the time of day and
// week: a window's replicas apply while it is active, and
// defaultReplicas otherwise.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
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
// +kubebuilder:printcolumn:name="Kind",type=string,priority=1,JSONPath=`.spec.targetRef.kind`
// +kubebuilder:printcolumn:name="Timezone",type=string,priority=1,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.targetRef.kind`
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

// The CEL rules check has() for required fields too: an evaluation error, unlike a failed rule, is not ratcheted
// for objects stored without them, and would block writes of status and finalizers (A4).

// TimeWindowScalerSpec is the schedule and its target.
//
// +kubebuilder:validation:XValidation:rule="has(self.baselineReplicas) || ((!has(self.defaultReplicas) || !string(self.defaultReplicas).endsWith('%')) && (!has(self.windows) || self.windows.all(w, !has(w.replicas) || !string(w.replicas).endsWith('%'))))",message="must be set if replicas or defaultReplicas is a percentage",reason=FieldValueRequired,fieldPath=".baselineReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || self.windows.all(w, !has(w.timezone) || (oldSelf.hasValue() && has(oldSelf.value().windows) && oldSelf.value().windows.exists(o, has(o.timezone) && o.timezone == w.timezone)) || !w.timezone.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') || timestamp('2000-01-01T00:00:00Z').getHours(w.timezone) >= 0)",optionalOldSelf=true,message="a window's timezone must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC",reason=FieldValueInvalid,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || !has(self.targetRef) || !has(self.targetRef.kind) || self.targetRef.kind != 'DaemonSet' || self.targetRef.apiVersion != 'apps/v1' || self.windows.all(w, !has(w.metric))",message="windows must not have a metric if the target is a DaemonSet: it has no replica count",reason=FieldValueForbidden,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.windows) || !has(self.targetRef) || !has(self.targetRef.kind) || self.targetRef.kind != 'Workspace' || self.targetRef.apiVersion != 'kyklos.io/v1alpha1' || self.windows.all(w, !has(w.metric))",message="windows must not have a metric if the target is a Workspace: it has no replica count",reason=FieldValueForbidden,fieldPath=".windows"
// +kubebuilder:validation:XValidation:rule="!has(self.workspace) || (has(self.targetRef) && has(self.targetRef.kind) && self.targetRef.kind == 'Workspace' && self.targetRef.apiVersion == 'kyklos.io/v1alpha1')",message="must not be set unless the target is a Workspace of kyklos.io/v1alpha1",reason=FieldValueForbidden,fieldPath=".workspace"
// +kubebuilder:validation:XValidation:rule="!has(self.driftPolicy) || self.driftPolicy != 'UntilBoundary' || !has(self.windows) || self.windows.all(w, !has(w.metric))",message="must not be UntilBoundary if a window has a metric, which decides all the time; use Enforce, the default",reason=FieldValueForbidden,fieldPath=".driftPolicy"
type TimeWindowScalerSpec struct {
	// targetRef is the workload to scale. A workload can have only one TimeWindowScaler.
	// +required
	TargetRef TargetRef `json:"targetRef"`

	// timezone is the IANA time zone of holidays and, unless a window has its own, of
	// days and times, such as Asia/Kolkata, Europe/Berlin or UTC. Daylight saving time
	// follows the rules of the zone. Empty, "Local" and offsets such as +02:00 are
	// refused: they do not define clock changes.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="(oldSelf.hasValue() && oldSelf.value() == self) || (self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && !(self in ['Local', 'Factory', 'localtime', 'posixrules']) && !self.startsWith('posix/') && !self.startsWith('right/') && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0)",optionalOldSelf=true,message="must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not allowed",reason=FieldValueInvalid
	Timezone string `json:"timezone"`

	// baselineReplicas is the replica count that percentages refer to. It is required if
	// replicas or defaultReplicas is a percentage.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	BaselineReplicas *int32 `json:"baselineReplicas,omitempty"`

	// defaultReplicas is the replica count outside of all windows: a number, or a
	// percentage of baselineReplicas from 0% to 1000%, rounded up. It has no default, so
	// that nobody stops a workload by forgetting it.
	// +required
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 2147483647 : self.matches('^([0-9]|[1-9][0-9]{1,2}|1000)%$')",message="must be a number from 0 to 2147483647 without quotes, such as 3, or a percentage of baselineReplicas from 0% to 1000%, such as 50%",reason=FieldValueInvalid
	DefaultReplicas intstr.IntOrString `json:"defaultReplicas"`

	// windows are the time windows, 1 to 100, at most 20 of them with a metric. If
	// windows overlap, the last one in the list wins.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(w, !has(w.name) || self.exists_one(other, has(other.name) && other.name == w.name))",message="names of windows must be unique",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self.filter(w, has(w.metric)).size() <= 20",message="at most 20 windows may have a metric",reason=FieldValueInvalid
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

	// driftPolicy is what happens when somebody else, such as an autoscaler, changes the
	// workload between two window boundaries. Enforce, the default, corrects it at once.
	// UntilBoundary, the default for a Workspace, keeps it until the next boundary.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// deletionPolicy is what happens to a DaemonSet that is suspended when its
	// TimeWindowScaler is deleted: Retain, the default, leaves it suspended, Resume lets
	// it run again. Targets of other kinds keep their replicas.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// workspace configures a target of kind Workspace. It must not be set for other
	// targets.
	// +optional
	Workspace *WorkspaceDrive `json:"workspace,omitempty"`
}

// DriftPolicy is what happens to changes by others between two window boundaries.
//
// +kubebuilder:validation:Enum=Enforce;UntilBoundary
type DriftPolicy string

// The drift policies.
const (
	// DriftEnforce corrects them at once.
	DriftEnforce DriftPolicy = "Enforce"
	// DriftUntilBoundary keeps them until the next boundary.
	DriftUntilBoundary DriftPolicy = "UntilBoundary"
)

// DeletionPolicy is what happens to a suspended DaemonSet when its TimeWindowScaler is deleted.
//
// +kubebuilder:validation:Enum=Retain;Resume
type DeletionPolicy string

// The deletion policies.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionResume DeletionPolicy = "Resume"
)

// TargetRef names the workload to scale: a Deployment, a StatefulSet, a
// DaemonSet (0 suspends it, any other number runs it), a Workspace of
// kyklos.io/v1alpha1 (0 stops it, any other number starts it), or an object of
// any other kind with a scale subresource.
//
// +kubebuilder:validation:XValidation:rule="!has(self.kind) || self.kind.matches('^[A-Z][A-Za-z0-9]*$')",message="must be a kind such as Deployment, StatefulSet or DaemonSet, starting with a capital letter",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="self.apiVersion.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*$')",message="must be the API version of the workload, such as apps/v1 or argoproj.io/v1alpha1",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="self.apiVersion == 'apps/v1' || !self.apiVersion.matches('^apps/v[0-9][a-z0-9]*$')",message="must be apps/v1, the default: Kubernetes no longer serves other versions of apps",reason=FieldValueInvalid,fieldPath=".apiVersion"
// +kubebuilder:validation:XValidation:rule="self.apiVersion != 'apps/v1' || !has(self.kind) || self.kind in ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'] || !self.kind.matches('^[A-Z][A-Za-z0-9]*$')",message="must be Deployment, StatefulSet, DaemonSet or ReplicaSet if apiVersion is apps/v1, the default; set apiVersion for kinds in other groups",reason=FieldValueInvalid,fieldPath=".kind"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !format.dns1123Subdomain().validate(self.name).hasValue()",message="must be a valid workload name: lowercase letters, digits, '-' and '.', starting and ending with a letter or digit",reason=FieldValueInvalid,fieldPath=".name"
type TargetRef struct {
	// apiVersion is the API version of the workload. It defaults to apps/v1.
	// +optional
	// +kubebuilder:default="apps/v1"
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion,omitempty"`

	// kind is the kind of the workload: Deployment, StatefulSet, DaemonSet (0 suspends
	// it, any other number runs it), Workspace (0 stops it, any other number starts it),
	// or another kind with a scale subresource.
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
