// Package storagemigration rewrites stored objects when the storage version of their
// CustomResourceDefinition has moved, in either direction, and then says so in the definition's
// status.storedVersions (A1). One wake-up is one pass:
//
//	observe   every read: the definition, and the cluster's own migration of it
//	plan      pure: the next step, from what was observed, the progress so far and now
//	act       that one step: a page of a list, some seconds of rewriting, or one write
//	report    events, metrics, log, and when to look again
//
// Where the cluster serves storagemigration.k8s.io/v1 its migrator is asked first. Where it does not,
// or it fails, Kyklos rewrites each object by a patch of its status that changes nothing: the API
// server then stores the object anew, in today's storage version. Spec and generation cannot change,
// for the API server takes neither from such a request; and rules that today refuse the object's
// unchanged parts do not stop it.
//
// Progress is kept in memory alone. Whoever begins again sends a request for each object, and the API
// server writes only those that are not stored in the right version yet.
package storagemigration
