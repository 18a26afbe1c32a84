// Package archive keeps workspaces' homes in an object store. It defines the names of objects, the marker of an archive,
// the interface of a store, and when an archive is committed (W52).
//
// An archive is two objects. The data are a compressed tar of the home. The marker, written last and once, describes the
// stored data: its existence is the commit. Neither is ever overwritten; a second writer continues with what is there. A
// progress note next to them is overwritten frequently, and nothing depends on it (docs/adr/0014).
package archive
