package v1alpha1

// ConditionInUse is whether a running workspace is used.
const ConditionInUse = "InUse"

// The reasons of InUse.
const (
	// ReasonInUse: somebody uses the workspace, has just used it, or it has just started.
	ReasonInUse = "InUse"
	// ReasonIdle: nobody uses the workspace.
	ReasonIdle = "Idle"
	// ReasonNotRunning: a workspace that does not run is not used.
	ReasonNotRunning = "NotRunning"
	// ReasonNoActivitySource: only heartbeats can tell whether the workspace is used.
	ReasonNoActivitySource = "NoActivitySource"
)

// WorkspaceActivity is what counts as use of a running workspace, besides
// heartbeats.
type WorkspaceActivity struct {
	// connections: while somebody is connected to one of the ports, the workspace is
	// in use.
	// +optional
	// +kubebuilder:default=true
	Connections *bool `json:"connections,omitempty"`

	// cpuPercent: while the workspace's processes need more than this percentage of
	// one CPU, over a minute, it is in use. The containers of the Pod then share a
	// process namespace.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	CPUPercent int32 `json:"cpuPercent,omitempty"`
}
