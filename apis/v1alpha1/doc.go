// Package v1alpha1 is the first version of the kyklos.io API: TimeWindowScaler, a schedule of
// time windows that sets the replica count of a Deployment, and Workspace, a home and the
// program that works in it.
//
// The package holds types and contract names only and imports nothing but apimachinery, so that
// other programs can depend on it cheaply.
//
// +kubebuilder:object:generate=true
// +groupName=kyklos.io
package v1alpha1
