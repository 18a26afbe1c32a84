package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

// PodTemplate is the rest of the Pod, as the template of a Deployment.
type PodTemplate struct {
	// metadata has labels and annotations of the Pod, besides those that Kyklos sets.
	// +optional
	Metadata PodTemplateMetadata `json:"metadata,omitzero"`

	// spec is the spec of the Pod, with all fields of Kubernetes' Pod that the
	// restricted Pod Security Standard allows, as in `kubectl explain pod.spec`.
	// The container named workspace is the workspace's own; what spec has of it, such
	// as the image, is left out here. The volume named home is the home directory,
	// which every container can mount.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec runtime.RawExtension `json:"spec,omitzero"`
}

// PodTemplateMetadata is the part of the Pod's metadata that can be chosen.
type PodTemplateMetadata struct {
	// labels are labels of the Pod.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are annotations of the Pod.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
