package v1alpha1

// WorkspaceStorage describes the volume of the home directory. Except for mountPath
// it can be changed while there is no volume.
type WorkspaceStorage struct {
	// size is the size of the volume. It can grow if the storage class allows it, and
	// shrink only while the home is not on a volume.
	// +optional
	// +kubebuilder:default="10Gi"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="isQuantity(self) && !self.matches('([num]|[eE]-[0-9]+)$') && quantity(self).compareTo(quantity('1')) >= 0",message="must be a size in whole bytes above 0, such as 10Gi",reason=FieldValueInvalid
	Size string `json:"size"`

	// storageClassName is the StorageClass of the volume. Defaults to the cluster's
	// default class. Immutable while the home is on a volume.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a StorageClass: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	StorageClassName string `json:"storageClassName,omitempty"`

	// accessMode is ReadWriteOnce, or ReadWriteOncePod if the volume's driver
	// supports it. Immutable while the home is on a volume.
	// +optional
	// +kubebuilder:default=ReadWriteOnce
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteOncePod
	AccessMode string `json:"accessMode"`

	// mountPath is the path of the home directory in the container. Immutable.
	// +optional
	// +kubebuilder:default="/home/coder"
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:[:cntrl:]]+)+$') && !self.matches('/[.][.]?(/|$)')",message="must be an absolute path without colons, control characters, '.', '..' and a slash at its end, such as /home/coder",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="!self.matches('^/(bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|run|sbin|sys|tmp)(/|$)') && !self.matches('^/usr(/local)?(/(bin|etc|games|include|lib|lib32|lib64|libexec|libx32|sbin|share)(/|$)|$)') && !self.matches('^/var(/(cache|lib|lock|log|mail|run|spool|tmp)|/(lock|run|tmp)/.*)?$')",message="must not be a folder of the system, such as /usr/bin or /tmp/home: it would hide what programs need there",reason=FieldValueInvalid
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="must not change: programs remember where the home is",reason=FieldValueForbidden
	MountPath string `json:"mountPath"`
}

// WorkspaceArchive is where the home is archived.
type WorkspaceArchive struct {
	// storeRef names the Secret in this namespace with the address and the
	// credentials of the object store.
	// +required
	StoreRef StoreRef `json:"storeRef"`

	// retain is how many archives are kept, newest first.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Retain int32 `json:"retain"`
}

// StoreRef names the Secret of an object store.
type StoreRef struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of a Secret: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",reason=FieldValueInvalid
	Name string `json:"name"`
}
