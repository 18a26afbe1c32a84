// Package archivegc deletes archives that no Workspace needs (W48, D14). Every
// two hours, on the leader alone, it goes through each object store that Workspaces name, or named:
//
//	own      the object .kyklos-owner at the store's prefix says whose the archives are: another
//	         installation's are left alone
//	list     the archives first, and then the Workspaces, from the API server itself: an archive that was
//	         made in between cannot be taken for one that nobody needs
//	collect  lifecycle.Collect decides: two hours without interruption, never most of them at once
//	delete   after one more look at the Workspaces for each archive: the marker first, then the data
//
// Whatever fails ends the look at that store. Nothing is deleted on incomplete knowledge, and the two
// hours begin anew. Since when archives are not needed, and which stores there were, is kept in a
// ConfigMap: the store of a Workspace that is gone must be found too.
package archivegc
