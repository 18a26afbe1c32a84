// Package certs provides the webhook server's serving certificate and makes the API server trust it.
//
// SelfManaged needs only Kubernetes: a CA is kept in a Secret that all replicas share, each replica keeps its own leaf
// in memory, and the CA is appended to every caBundle with which the API server calls Kyklos. Mounted serves a
// certificate that others, such as cert-manager, renew in a mounted Secret and publish; it only reads.
//
// A rotation refuses no request, because of three rules:
//
//   - A CA is appended, never swapped: bundles keep every certificate that has not expired, no matter who added it.
//     (With Mounted this is up to others.)
//   - A replica keeps its old leaf until a newer one is trusted by all bundles, and for one pace more (see
//     Options.LeafDuration and MountedOptions.Pace), for API servers whose watch or clock is slightly behind. The CA in
//     the Secret changes at once for all replicas; the served leaf does not. A leaf with less than a pace left is
//     replaced when a newer one has been trusted for as long as it has left, and a leaf that a bundle no longer trusts
//     is replaced at once.
//   - Every replica publishes, not only the leader: the merge gives the same result on each, the write is a patch that
//     fails on a stale resourceVersion, and admission must not wait for an election.
//
// In the steady state only watches are open, one for each named object; expiry is checked in the local copies.
package certs

// Both modes read the objects that call Kyklos. What self-managed certificates write is granted by config/self-managed.
//
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations;mutatingwebhookconfigurations,resourceNames=kyklos-webhook,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=timewindowscalers.kyklos.io,verbs=list;watch
