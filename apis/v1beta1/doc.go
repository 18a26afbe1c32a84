// Package v1beta1 is the version of the kyklos.io API that Kyklos works on and stores:
// TimeWindowScaler, a schedule of time windows that sets the replica count of a workload (A1, A6).
// What is stored or asked for as v1alpha1 is converted; webhooks/conversion says how.
//
// The package holds types and contract names only and imports nothing but apimachinery, so that
// other programs can depend on it cheaply.
//
// +kubebuilder:object:generate=true
// +groupName=kyklos.io
package v1beta1
