// Package certs gives the webhook server its serving certificate and tells the
// API server to trust it.
//
// SelfManaged needs nothing but Kubernetes: a CA lives in a Secret that all
// replicas share, each replica keeps a leaf of its own in memory, and the CA is
// appended to the caBundle of every place that calls Kyklos. Mounted serves what
// somebody else, such as cert-manager, renews in a mounted Secret and publishes;
// it only reads.
//
// A rotation refuses no request, because of three rules:
//
//   - A CA is appended, never swapped: bundles keep every certificate that has
//     not expired, whoever put it there. (With Mounted that is up to others.)
//   - A replica keeps its old leaf until a newer one is trusted by all bundles,
//     and for one pace more (see Options.LeafDuration and MountedOptions.Pace), for API servers whose
//     watch or clock is a little behind. The CA in the Secret changes at once
//     for everybody; what is served does not. A leaf with less than a pace left
//     goes when a newer one has been trusted for as long as it has left, and one
//     that some bundle no longer trusts goes at once.
//   - Every replica publishes, not only the leader: the merge gives the same
//     result whoever does it, the write is a patch that fails on a stale
//     resourceVersion, and admission must not wait for an election.
//
// In the steady state only watches are open, one for each named object; expiry
// is looked at in the local copies.
package certs

// Reading the objects that call Kyklos is all that both modes need; what self-managed certificates write
// is granted by config/self-managed.
//
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations;mutatingwebhookconfigurations,resourceNames=kyklos-webhook,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=timewindowscalers.kyklos.io,verbs=list;watch
