package v1alpha1

import "encoding/json"

// Resources are the compute resources of a container.
//
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || !isQuantity(string(self.requests[name])) || !isQuantity(string(self.limits[name])) || quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)",message="must not be above limits",reason=FieldValueInvalid,fieldPath=".requests"
type Resources struct {
	// requests are the resources that the node must have free.
	// +optional
	Requests ResourceList `json:"requests,omitempty"`

	// limits are the maximum resources that the container may use. A resource
	// without a limit is unlimited.
	// +optional
	Limits ResourceList `json:"limits,omitempty"`
}

// ResourceList holds an amount, such as 500m, 2 or 4Gi, for each resource, such as
// cpu or memory. The text is kept as written (A7).
//
// +kubebuilder:validation:MaxProperties=16
// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])) && !quantity(string(self[name])).isLessThan(quantity('0')))",message="each amount must be a quantity of at least 0, such as 500m, 2 or 4Gi",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.all(name, !(name in ['memory', 'ephemeral-storage']) || !string(self[name]).matches('([num]|[eE]-[0-9]+)$') && (!isQuantity(string(self[name])) || quantity(string(self[name])).compareTo(quantity('0')) <= 0 || quantity(string(self[name])).compareTo(quantity('1')) >= 0))",message="memory and ephemeral-storage must be whole bytes, such as 512Mi; m means thousandths",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory', 'ephemeral-storage'] || !isQuantity(string(self[name])) || quantity(string(self[name])).asApproximateFloat() >= 9.0e18 || quantity(string(self[name])).asApproximateFloat() <= 0.0 || double(int(quantity(string(self[name])).asApproximateFloat())) == quantity(string(self[name])).asApproximateFloat())",message="each amount of an extended resource must be a whole number, such as 1",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['cpu', 'memory', 'ephemeral-storage'] || name.startsWith('hugepages-') || name.matches('^[a-z0-9.-]{1,253}/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="each name must be cpu, memory, ephemeral-storage or that of an extended resource, such as example.com/gpu",reason=FieldValueInvalid
type ResourceList map[string]Quantity

// Quantity is an amount as text. Without a unit it can also be a number.
//
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:MaxLength=32
type Quantity string

// UnmarshalJSON accepts text and whole numbers, as Kubernetes does in a Pod.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	if string(data) == "null" || data[0] == '"' {
		return json.Unmarshal(data, (*string)(q))
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	*q = Quantity(number)
	return nil
}

// Toleration is a taint that the Pod tolerates, as in Kubernetes' Pod.
//
// +kubebuilder:validation:XValidation:rule="has(self.key) && self.key.size() > 0 || has(self.operator) && self.operator == 'Exists'",message="must be given, unless operator is Exists",reason=FieldValueRequired,fieldPath=".key"
// +kubebuilder:validation:XValidation:rule="!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value.size() == 0",message="must be left out with the operator Exists",reason=FieldValueForbidden,fieldPath=".value"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",message="must be left out unless effect is NoExecute",reason=FieldValueForbidden,fieldPath=".tolerationSeconds"
type Toleration struct {
	// key is the key of the taint. Empty, with the operator Exists, matches every
	// taint.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="must be a label: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; example.com/ may stand before it",reason=FieldValueInvalid
	Key string `json:"key,omitempty"`

	// operator is Exists or Equal. Defaults to Equal.
	// +optional
	// +kubebuilder:validation:Enum=Exists;Equal
	Operator string `json:"operator,omitempty"`

	// value is the value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="must be one that a label can have: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, or empty",reason=FieldValueInvalid
	Value string `json:"value,omitempty"`

	// effect is the effect of the taint. Empty matches every effect.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect,omitempty"`

	// tolerationSeconds is how long the Pod stays on a node after it gets a taint
	// with the effect NoExecute. Without it, the Pod stays.
	// +optional
	// +kubebuilder:validation:Minimum=-9007199254740991
	// +kubebuilder:validation:Maximum=9007199254740991
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}
