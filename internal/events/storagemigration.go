package events

import (
	"fmt"
	"strings"
)

// Reasons of events on a CustomResourceDefinition.
const (
	ReasonStorageMigrationStarted   = "StorageMigrationStarted"
	ReasonStorageMigrationProgress  = "StorageMigrationProgress"
	ReasonStorageMigrationCompleted = "StorageMigrationCompleted"
	ReasonStorageMigrationRefused   = "StorageMigrationRefused"
	ReasonManagedFieldsMoved        = "ManagedFieldsMoved"
)

// EmitMigrationStarted reports that objects are being rewritten as version; how says which migrator does it and why.
func EmitMigrationStarted(version, storedVersions, how string) Event {
	return normal(ReasonStorageMigrationStarted, "RewriteAs"+version,
		fmt.Sprintf("Rewriting all objects as %s, %s (status.storedVersions: %s)", version, how, storedVersions))
}

// EmitMigrationProgress reports how many objects are left, and the results of the others.
func EmitMigrationProgress(version string, left int, results string) Event {
	return normal(ReasonStorageMigrationProgress, "RewriteAs"+version,
		fmt.Sprintf("%d objects left to rewrite as %s (%s)", left, version, results))
}

// EmitMigrationCompleted reports that no object is stored in another version any more.
func EmitMigrationCompleted(version, how string) Event {
	return normal(ReasonStorageMigrationCompleted, "RewriteAs"+version,
		fmt.Sprintf("All objects are stored as %s (%s)", version, how))
}

// EmitMigrationRefused reports how many objects were refused, and why the first one was.
func EmitMigrationRefused(version string, count int, first string) Event {
	return warning(ReasonStorageMigrationRefused, "RewriteAs"+version,
		fmt.Sprintf("The API server refused to rewrite %d objects as %s; Kyklos will retry them; all others are done; %s", count, version, first))
}

// EmitManagedFieldsMoved reports that no object's managed fields name an unserved version any more, how many objects were
// rewritten for it, and which versions of the definition are not served.
func EmitManagedFieldsMoved(rewritten int, unserved []string) Event {
	note := fmt.Sprintf("No object's metadata.managedFields names a version that is not served (%d rewritten)", rewritten)
	if len(unserved) > 0 {
		note += fmt.Sprintf("; the definition can be applied without %s", strings.Join(unserved, ", "))
	}
	return normal(ReasonManagedFieldsMoved, "MoveManagedFields", note)
}
