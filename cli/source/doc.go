// Package desk finds the TimeWindowScalers that the commands for people speak of, in manifests or in a cluster, and reads their
// schedules: both versions, with their holidays.
package source
