package v1alpha1

// WorkspacePod describes the Pod, with the field names of Kubernetes' Pod. The short
// form is about the workspace's own container, the template about the rest. The Pod
// complies with the restricted Pod Security Standard, whatever the template says.
type WorkspacePod struct {
	// image is the container image, such as registry.example.com/ide:1.2.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^host://.') || self.matches('^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?([.][a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|[[][a-fA-F0-9:]+[]])(:[0-9]+)?/)?[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*(/[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$')",message="must be a container image, such as registry.example.com/ide:1.2: a name in lower case, then :TAG, or @ and a digest",reason=FieldValueInvalid
	Image string `json:"image"`

	// command is the entrypoint. Defaults to the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`

	// args are the arguments of the entrypoint. Defaults to the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`

	// env are the environment variables of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Env []EnvVar `json:"env,omitempty"`

	// ports are the ports that the container listens on.
	// +optional
	// +listType=set
	// +kubebuilder:default={8080}
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`

	// resources are the compute resources of the container. Defaults to requests of
	// 500m and 512Mi, and limits of 2 and 4Gi. If only limits or some requests are
	// given, each missing request is the default or, if lower, the limit. If only
	// requests are given, each limit is the default or, if higher, the request.
	// +optional
	// +kubebuilder:default={requests: {cpu: "500m", memory: "512Mi"}, limits: {cpu: "2", memory: "4Gi"}}
	Resources Resources `json:"resources,omitzero"`

	// nodeSelector are labels that the node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317 && key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="each key must be a label: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; example.com/ may stand before it",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self.all(key, self[key].matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'))",message="each value must be one that a label can have: up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, or empty",reason=FieldValueInvalid
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`

	// tolerations are taints that the Pod tolerates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// serviceAccountName is the ServiceAccount of the Pod, for pulling images and
	// for policies. Its token is not mounted. Defaults to default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a ServiceAccount: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// imagePullSecrets are the Secrets for pulling the image.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []SecretRef `json:"imagePullSecrets,omitempty"`

	// terminationGracePeriodSeconds is how long the container may take to stop. It
	// cannot be 0: the Pod object would be removed while its processes could still
	// write to the home.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TerminationGracePeriodSeconds int32 `json:"terminationGracePeriodSeconds"`

	// readinessProbe determines when the workspace is ready. Without it, the
	// workspace is ready as soon as its container runs.
	// +optional
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`

	// template is the rest of the Pod: init containers, sidecars, volumes, affinity,
	// the runtime class, the user, and whatever else a Deployment's template can have
	// within the restricted Pod Security Standard.
	// +optional
	Template *PodTemplate `json:"template,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// EnvVar is an environment variable.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="must not have both value and valueFrom",reason=FieldValueForbidden
type EnvVar struct {
	// name is the name of the variable.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$') && self != '.' && !self.startsWith('..')",message="must be the name of an environment variable, such as EDITOR; it must not be '.' or start with '..'",reason=FieldValueInvalid
	Name string `json:"name"`

	// value is the value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value string `json:"value,omitempty"`

	// valueFrom is the source of the value.
	// +optional
	ValueFrom *EnvVarSource `json:"valueFrom,omitempty"`
}

// EnvVarSource is the source of a value.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="must have one of secretKeyRef and configMapKeyRef",reason=FieldValueInvalid
type EnvVarSource struct {
	// secretKeyRef selects a key of a Secret in this namespace.
	// +optional
	SecretKeyRef *KeyRef `json:"secretKeyRef,omitempty"`

	// configMapKeyRef selects a key of a ConfigMap in this namespace.
	// +optional
	ConfigMapKeyRef *KeyRef `json:"configMapKeyRef,omitempty"`
}

// KeyRef selects a key of a Secret or a ConfigMap.
type KeyRef struct {
	// name is the name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret or a ConfigMap: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	Name string `json:"name"`

	// key is the key in the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && self != '.' && !self.startsWith('..')",message="must be a key of a Secret or a ConfigMap: letters, digits, '-', '_' and '.'; it must not be '.' or start with '..'",reason=FieldValueInvalid
	Key string `json:"key"`

	// optional allows the workspace to start without the key.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// SecretRef names a Secret in this namespace.
type SecretRef struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	Name string `json:"name"`
}

// Probe determines readiness, as in Kubernetes' Pod.
//
// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.exec)].filter(given, given).size() == 1",message="must have one of httpGet, tcpSocket and exec",reason=FieldValueInvalid
type Probe struct {
	// httpGet is a GET request that must be answered with 2xx or 3xx.
	// +optional
	HTTPGet *HTTPGet `json:"httpGet,omitempty"`

	// tcpSocket is a port that must accept connections.
	// +optional
	TCPSocket *TCPSocket `json:"tcpSocket,omitempty"`

	// exec is a command that must exit with 0.
	// +optional
	Exec *Exec `json:"exec,omitempty"`

	// initialDelaySeconds is the time before the first probe.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`

	// periodSeconds is the time between two probes. Kubernetes defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`

	// timeoutSeconds is the time within which the probe must succeed. Kubernetes
	// defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// failureThreshold is the number of consecutive failures after which the Pod is
	// not ready. Kubernetes defaults to 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// HTTPGet is a GET request.
type HTTPGet struct {
	// path is the path of the request, such as /healthz.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// port is the port of the container.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// TCPSocket is a port.
type TCPSocket struct {
	// port is the port of the container.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Exec is a command.
type Exec struct {
	// command is the program and its arguments.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command"`
}
