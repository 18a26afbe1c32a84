// Package storagemigration rewrites stored objects after the storage version of their CustomResourceDefinition has
// moved, in either direction, and then updates the definition's status.storedVersions (A1).
// One wake-up is one pass:
//
//	observe   all reads: the definition, and the cluster's own migration of it
//	plan      pure: the next step, from the observation, the progress so far and now
//	act       that step: a page of a list, some seconds of rewriting, or one write
//	report    pure: events, metrics, log and the time of the next pass
//
// If the cluster serves storagemigration.k8s.io/v1, its migrator is asked first. If not, or if it fails, Kyklos
// patches the status of each object without changing anything: the API server then stores the object again, in the
// current storage version. Spec and generation cannot change, because the API server ignores them in such a request,
// and validation rules that refuse unchanged parts of the object do not apply.
//
// Then it looks for managed fields that name a version which the definition does not serve, and moves them to one that it
// serves. While they are there, the version cannot be removed without breaking every server-side apply of these objects.
//
// Progress is kept only in memory. A restart sends a request for each object again; the API server writes only those
// that are not yet stored in the new version.
package storagemigration
