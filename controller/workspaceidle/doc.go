// Package workspaceidle lowers what is desired of Workspaces that nobody uses (W47, D15):
// from RUNNING to STANDBY after spec.standbyTTLSeconds, and from there to PENDING, which
// archives the home, after spec.archiveTTLSeconds. It writes spec.desiredState and nothing else.
//
// What happened last is read from the Workspace's activity Lease. Leases are not watched: heartbeats
// only ever put off what is due, so that one look at the Lease when it is due is enough, however many
// heartbeats there are. That look, and the one at the Workspace that decides, is at the API server
// itself. The write holds only if the Workspace is still the one that was looked at: whoever else decides in
// the same moment, wins.
package workspaceidle
