package v1beta1

import "k8s.io/apimachinery/pkg/util/intstr"

// Weekday is a day of the week by its three-letter English name.
//
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// Window is a range of local time on some days of the week, and the replica
// count during it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.start) || !has(self.end) || self.start != self.end",message="Invalid window: start must not equal end; a whole day is 00:00 to 24:00",reason=FieldValueInvalid,fieldPath=".end"
// +kubebuilder:validation:XValidation:rule="!has(self.start) || self.start.matches('^([0-1][0-9]|2[0-3]):[0-5][0-9]$')",message="must be a time of day as HH:MM from 00:00 to 23:59, such as 09:00",reason=FieldValueInvalid,fieldPath=".start"
// +kubebuilder:validation:XValidation:rule="!has(self.end) || self.end.matches('^(([0-1][0-9]|2[0-3]):[0-5][0-9]|24:00)$')",message="must be a time of day as HH:MM from 00:00 to 24:00, such as 17:00; 24:00 is the end of the same day",reason=FieldValueInvalid,fieldPath=".end"
// +kubebuilder:validation:XValidation:rule="!has(self.name) || (self.name.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$') && !(self.name in ['OffHours', 'Holiday']) && !self.name.startsWith('Custom-'))",message="must be letters, digits, '-', '_' and '.', starting and ending with a letter or digit; OffHours, Holiday and names starting with Custom- are reserved",reason=FieldValueInvalid,fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="!has(self.timezone) || (self.timezone.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && !(self.timezone in ['Local', 'Factory', 'localtime', 'posixrules']) && !self.timezone.startsWith('posix/') && !self.timezone.startsWith('right/'))",message="must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not allowed",reason=FieldValueInvalid,fieldPath=".timezone"
type Window struct {
	// name is the name of the window, unique in the list and shown in
	// status.currentWindow. By default status shows BusinessHours or Custom-<hash>.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

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

	// end is the local time at which the window ends, HH:MM from 00:00 to 24:00. The
	// window does not include this minute. 24:00 is the end of the day on which the
	// window starts. An end before start is on the following day: Fri 22:00-02:00 ends
	// on Saturday at 02:00.
	// +required
	// +kubebuilder:validation:MaxLength=16
	End string `json:"end"`

	// timezone is the IANA time zone of the window's days, start and end. It defaults to
	// spec.timezone.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Timezone string `json:"timezone,omitempty"`

	// replicas is the replica count while the window is active: a number, or a
	// percentage of baselineReplicas from 0% to 1000%, rounded up. With a metric it
	// applies while the metric has no value.
	// +required
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 2147483647 : self.matches('^([0-9]|[1-9][0-9]{1,2}|1000)%$')",message="must be a number from 0 to 2147483647 without quotes, such as 10, or a percentage of baselineReplicas from 0% to 1000%, such as 150%",reason=FieldValueInvalid
	Replicas intstr.IntOrString `json:"replicas"`

	// metric is an external metric that sets the replica count while the window is
	// active.
	// +optional
	Metric *WindowMetric `json:"metric,omitempty"`
}

// WindowMetric is a metric of the external.metrics.k8s.io API that sets the
// replica count like an external metric of a HorizontalPodAutoscaler (A6). The
// window's replicas apply if it has no value three times in a row.
//
// +kubebuilder:validation:XValidation:rule="!has(self.name) || self.name.matches('^[!-$&-.0-~]+$') && !(self.name in ['.', '..'])",message="must be a metric name: ASCII letters, digits and punctuation, without spaces, '/' and '%', and not '.' or '..'",reason=FieldValueInvalid,fieldPath=".name"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="must not be below minReplicas",reason=FieldValueInvalid,fieldPath=".maxReplicas"
type WindowMetric struct {
	// name is the name of the metric.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// selector selects the series of the metric by their labels. By default all are
	// selected.
	// +optional
	Selector *MetricSelector `json:"selector,omitempty"`

	// target is the value to maintain.
	// +required
	Target MetricTarget `json:"target"`

	// minReplicas is the lowest replica count that the metric may set. It defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the highest replica count that the metric may set.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	MaxReplicas int32 `json:"maxReplicas"`
}

// MetricSelector is a label selector; all requirements must be met.
type MetricSelector struct {
	// matchLabels are labels and their required values, at most 8.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317 && key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="each key must be a label key: up to 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit, with an optional prefix such as example.com/",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self.all(key, self[key].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="each value must be a label value: up to 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit, or empty",reason=FieldValueInvalid
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// matchExpressions are further requirements, at most 4.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	MatchExpressions []MetricSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelValue is the value of a label of a metric.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// MetricSelectorRequirement is one requirement of a label selector.
//
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 : !has(self.values) || self.values.size() == 0",message="must list at least one value for In and NotIn, and none for Exists and DoesNotExist",reason=FieldValueInvalid,fieldPath=".values"
// +kubebuilder:validation:XValidation:rule="!has(self.key) || self.key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="must be a label key: up to 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit, with an optional prefix such as example.com/",reason=FieldValueInvalid,fieldPath=".key"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || self.values.all(v, v.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="must be label values: up to 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit, or empty",reason=FieldValueInvalid,fieldPath=".values"
type MetricSelectorRequirement struct {
	// key is the label key.
	// +required
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// operator is In, NotIn, Exists or DoesNotExist.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator string `json:"operator"`

	// values are the label values for In and NotIn, at most 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=63
	Values []string `json:"values,omitempty"`
}

// MetricTargetType is how the target is compared with the metric.
//
// +kubebuilder:validation:Enum=Value;AverageValue
type MetricTargetType string

// The metric target types.
const (
	// MetricValue compares the metric itself.
	MetricValue MetricTargetType = "Value"
	// MetricAverageValue compares the metric divided by the replica count.
	MetricAverageValue MetricTargetType = "AverageValue"
)

// MetricTarget is the value of a metric that Kyklos maintains by adding and
// removing replicas. Values are quantities as strings from 0.001 to 1P (10^15),
// such as "30", "0.5" or "500m", and are kept as written (A7); they are compared
// in thousandths, as a HorizontalPodAutoscaler does.
//
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'Value' ? has(self.value) && !has(self.averageValue) : has(self.averageValue) && !has(self.value)",message="must have only value for type Value, and only averageValue for type AverageValue",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="!has(self.value) || (isQuantity(self.value) && quantity(self.value).compareTo(quantity('1m')) >= 0 && quantity(self.value).compareTo(quantity('1P')) <= 0)",message="must be a quantity from 0.001 to 1P, such as \"30\", \"0.5\" or \"500m\"",reason=FieldValueInvalid,fieldPath=".value"
// +kubebuilder:validation:XValidation:rule="!has(self.averageValue) || (isQuantity(self.averageValue) && quantity(self.averageValue).compareTo(quantity('1m')) >= 0 && quantity(self.averageValue).compareTo(quantity('1P')) <= 0)",message="must be a quantity from 0.001 to 1P, such as \"30\", \"0.5\" or \"500m\"",reason=FieldValueInvalid,fieldPath=".averageValue"
type MetricTarget struct {
	// type is Value or AverageValue.
	// +required
	Type MetricTargetType `json:"type"`

	// value is the value of the metric, summed over its series, for type Value.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Value string `json:"value,omitempty"`

	// averageValue is the value of the metric per replica, for type AverageValue.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	AverageValue string `json:"averageValue,omitempty"`
}
