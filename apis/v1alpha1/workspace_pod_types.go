package v1alpha1

// WorkspacePod is what can be said of a workspace's Pod: a part of Kubernetes'
// own Pod, in its words. The rest is fixed, because the Pod is held to the
// restricted Pod Security Standard and gets no ServiceAccount token.
type WorkspacePod struct {
	// The container image, such as registry.example.com/ide:1.2.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// The entrypoint. Left out, it is the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// The arguments of the entrypoint. Left out, they are the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`

	// Environment variables.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Env []EnvVar `json:"env,omitempty"`

	// The ports on which the workspace listens.
	// +optional
	// +listType=set
	// +kubebuilder:default={8080}
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`

	// What the container gets and may use.
	// +optional
	// +kubebuilder:default={}
	Resources Resources `json:"resources,omitzero"`

	// Labels that the node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// Taints of nodes that do not matter.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// The ServiceAccount of the Pod, for pulling images and for policies; its token is
	// not mounted. Left out, it is default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Secrets for pulling the image.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []SecretRef `json:"imagePullSecrets,omitempty"`

	// Seconds that the container has to stop after it was told to.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	TerminationGracePeriodSeconds int32 `json:"terminationGracePeriodSeconds"`

	// When the workspace counts as ready. Left out, as soon as its container runs.
	// +optional
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// EnvVar is an environment variable.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="must not have both value and valueFrom",reason=FieldValueForbidden
type EnvVar struct {
	// The name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$')",message="must be the name of an environment variable, such as EDITOR",reason=FieldValueInvalid
	Name string `json:"name"`

	// The value.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value string `json:"value,omitempty"`

	// Where the value is kept.
	// +optional
	ValueFrom *EnvVarSource `json:"valueFrom,omitempty"`
}

// EnvVarSource says where a value is kept.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="must have one of secretKeyRef and configMapKeyRef",reason=FieldValueInvalid
type EnvVarSource struct {
	// A key of a Secret in this namespace.
	// +optional
	SecretKeyRef *KeyRef `json:"secretKeyRef,omitempty"`

	// A key of a ConfigMap in this namespace.
	// +optional
	ConfigMapKeyRef *KeyRef `json:"configMapKeyRef,omitempty"`
}

// KeyRef names a key of a Secret or a ConfigMap.
type KeyRef struct {
	// The name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// The key in it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`

	// Whether the workspace starts without it.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// SecretRef names a Secret in this namespace.
type SecretRef struct {
	// The Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Resources are what the container gets and may use.
type Resources struct {
	// What the node must have free.
	// +optional
	// +kubebuilder:default={cpu: "500m", memory: "512Mi"}
	Requests ResourceList `json:"requests,omitempty"`

	// What the container may use at most.
	// +optional
	// +kubebuilder:default={cpu: "2", memory: "4Gi"}
	Limits ResourceList `json:"limits,omitempty"`
}

// ResourceList holds an amount, such as 500m or 4Gi, for each resource, such as
// cpu or memory. The text stays as it was written (A7).
//
// +kubebuilder:validation:MaxProperties=16
// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(self[name]) && !quantity(self[name]).isLessThan(quantity('0')))",message="each amount must be a quantity of at least 0 in quotes, such as \"500m\" or \"4Gi\"",reason=FieldValueInvalid
type ResourceList map[string]Quantity

// Quantity is an amount as text.
//
// +kubebuilder:validation:MaxLength=32
type Quantity string

// Toleration is a taint that does not matter, as in Kubernetes' Pod.
type Toleration struct {
	// The taint's key. Empty, with the operator Exists, means every taint.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key,omitempty"`

	// Exists, or Equal, which is meant if it is left out.
	// +optional
	// +kubebuilder:validation:Enum=Exists;Equal
	Operator string `json:"operator,omitempty"`

	// The taint's value.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`

	// The taint's effect. Left out, it is any.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect,omitempty"`

	// Seconds that the Pod stays on a node that has got a taint with the effect
	// NoExecute. Left out, it stays.
	// +optional
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// Probe says how readiness is found out, as in Kubernetes' Pod.
//
// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.exec)].filter(given, given).size() == 1",message="must have one of httpGet, tcpSocket and exec",reason=FieldValueInvalid
type Probe struct {
	// A GET request that must be answered with 2xx or 3xx.
	// +optional
	HTTPGet *HTTPGet `json:"httpGet,omitempty"`

	// A port on which somebody must listen.
	// +optional
	TCPSocket *TCPSocket `json:"tcpSocket,omitempty"`

	// A command that must end with 0.
	// +optional
	Exec *Exec `json:"exec,omitempty"`

	// Seconds before the first look.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`

	// Seconds between two looks; Kubernetes' default is 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`

	// Seconds that an answer may take; Kubernetes' default is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// Failures in a row after which it is not ready; Kubernetes' default is 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// HTTPGet is a GET request.
type HTTPGet struct {
	// The path, such as /healthz.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// The port.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// TCPSocket is a port.
type TCPSocket struct {
	// The port.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Exec is a command.
type Exec struct {
	// The program and its arguments.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command"`
}
