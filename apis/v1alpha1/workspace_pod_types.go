package v1alpha1

// WorkspacePod is what can be said of a workspace's Pod: a part of Kubernetes'
// own Pod, in its words. The rest is fixed, because the Pod is held to the
// restricted Pod Security Standard and gets no ServiceAccount token.
type WorkspacePod struct {
	// The container image, such as registry.example.com/ide:1.2.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^host://.') || self.matches('^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?([.][a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|[[][a-fA-F0-9:]+[]])(:[0-9]+)?/)?[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$')",message="must be a container image, such as registry.example.com/ide:1.2: a name in lower case, then :TAG, or @ and a digest",reason=FieldValueInvalid
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

	// What the container gets and may use. Left out as a whole, it is requests of 500m
	// and 512Mi, and limits of 2 and 4Gi. Where only limits or some requests are given,
	// the missing requests become these or, if that is less, the limit; where only
	// requests are given, the limits become these or, if that is more, the requests.
	// +optional
	// +kubebuilder:default={requests: {cpu: "500m", memory: "512Mi"}, limits: {cpu: "2", memory: "4Gi"}}
	Resources Resources `json:"resources,omitzero"`

	// Labels that the node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317 && key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="each key must be a label: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; example.com/ may stand before it",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self.all(key, self[key].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="each value must be one that a label can have: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, or empty",reason=FieldValueInvalid
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// Taints of nodes that do not matter.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// The ServiceAccount of the Pod, for pulling images and for policies; its token is
	// not mounted. Left out, it is default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a ServiceAccount: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Secrets for pulling the image.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []SecretRef `json:"imagePullSecrets,omitempty"`

	// Seconds that the container has to stop after it was told to. It is never 0: that
	// would let go of a Pod that may still write to its home.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
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
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret or a ConfigMap: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	Name string `json:"name"`

	// The key in it.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && !(self in ['.', '..'])",message="must be a key of a Secret or a ConfigMap: letters, digits, '-', '_' and '.'",reason=FieldValueInvalid
	Key string `json:"key"`

	// Whether the workspace starts without it.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// SecretRef names a Secret in this namespace.
type SecretRef struct {
	// The Secret's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	Name string `json:"name"`
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
