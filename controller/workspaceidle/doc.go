// Package workspaceidle lowers spec.desiredState of idle Workspaces (W47, D15): from RUNNING to
// STANDBY after spec.standbyTTLSeconds, and from there to PENDING, which archives the home, after
// spec.archiveTTLSeconds. It writes no other field of the spec. One wake-up is one pass:
//
//	observe   all reads: the Workspace, and its activity Lease if it may be due
//	plan      pure: the new desired state, from the observation
//	act       the write of spec.desiredState, or of status.lastActivityTime
//	report    pure: event, metric and the time of the next pass
//
// Whether a running Workspace is used is in its status, which its own controller writes from the status of the Pod (W80).
// Leases are not watched: a heartbeat only postpones the due time, so one read when a Workspace is due is enough. That
// read, and the one of the Workspace that decides, go to the API server. The write succeeds only if the Workspace has
// not changed since: any other writer wins.
package workspaceidle
