// Package archivegc deletes archives that no Workspace needs (W48, D14). Every two hours, on the
// leader only, it goes through each object store that Workspaces refer to, or once did. For each store:
//
//	observe   the owner, the archives, and then the Workspaces, from the API server: an archive made in between
//	          cannot look unneeded. The object .kyklos-owner at the store's prefix names the owner: archives of another
//	          installation are left alone
//	plan      pure: lifecycle.Collect decides which archives have been unneeded for two hours without interruption;
//	          never most of them at once
//	act       delete them, the marker first, then the data, after reading the Workspaces again for each
//	report    pure: the ledger, events and metrics; they are published after the cycle
//
// Any failure ends the work on that store. Nothing is deleted on incomplete knowledge, and the two hours restart. A
// ConfigMap, the ledger, remembers since when archives are unneeded and which stores there were: the store of a deleted
// Workspace must be found, too.
package archivegc
