// Package archive keeps workspaces' homes in an object store: how objects are named, what the
// marker beside each says, what a store must be able to do, and when an archive counts as
// committed (W52).
//
// An archive is two objects. The data are a compressed tar of the home. The marker, written last
// and once, says what the stored data are: its existence is the commit. Neither is ever overwritten;
// whoever comes second goes on with what is there. A note beside them, of how far a mover is, is
// overwritten all the time, and nothing is decided by it (docs/adr/0014).
package archive
