package v1alpha1

// ConditionServiceReady is whether the workspace's Service leads to spec.ports. No other
// condition depends on it. The type and its reasons are a public contract: do not
// rename them.
const ConditionServiceReady = "ServiceReady"

// The reasons of ServiceReady.
const (
	// ReasonServiceReady: the Service leads to the ports.
	ReasonServiceReady = "ServiceReady"
	// ReasonNoPorts: spec.ports is empty, so there is no Service.
	ReasonNoPorts = "NoPorts"
	// ReasonServiceForeign: a Service with the required name exists and belongs to something else.
	ReasonServiceForeign = "ServiceForeign"
	// ReasonServiceRefused: the API server rejects the Service.
	ReasonServiceRefused = "ServiceRefused"
)
